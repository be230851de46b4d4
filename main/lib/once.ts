/** Makes a value when it is first asked for, and keeps it. A throw is not kept: the next call tries again. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
