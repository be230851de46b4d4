/**
 * The public half of the key that signs updates, as 64 hexadecimal digits; null where there is none, and then this Keyhearth
 * takes no updates. `npm run update-key` makes the key and writes this line.
 */
export const updateKey: string | null = null;
