/**
 * The name that the product had before its first release. Files with it still open. New files do not get it,
 * and no command, variable or address has it.
 */
export const formerName = 'latchkey';
export const formerTitle = 'Latchkey';
