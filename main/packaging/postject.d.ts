/** What is used of a package that comes without types. */
declare module 'postject' {
  export function inject(
    program: string,
    name: string,
    data: Buffer,
    options: { readonly sentinelFuse: string; readonly machoSegmentName?: string },
  ): Promise<void>;
}
