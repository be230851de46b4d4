type Defined<Given> = {
  [Key in keyof Given as undefined extends Given[Key] ? never : Key]: Given[Key];
} & { [Key in keyof Given as undefined extends Given[Key] ? Key : never]?: Exclude<Given[Key], undefined> };

/** @returns the object without its members that are undefined: one that may be left out may not be undefined. */
export function defined<Given extends object>(given: Given): Defined<Given> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) kept[name] = value;
  }
  return kept as Defined<Given>;
}
