/**
 * The name that the product had before its first release. What was made under it still opens; nothing is made under it, and no
 * command, variable or address has it.
 */
export const formerName = 'latchkey';
export const formerTitle = 'Latchkey';
