/** The part of an untyped package that is used. */
declare module 'postject' {
  export function inject(
    program: string,
    name: string,
    data: Buffer,
    options: { readonly sentinelFuse: string; readonly machoSegmentName?: string },
  ): Promise<void>;
}
