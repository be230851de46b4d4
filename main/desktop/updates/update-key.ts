/**
 * The public half of the key that signs updates, as 64 hexadecimal digits; null if there is none, and then
 * this Keyhearth gets no updates. `npm run update-key` generates the key and writes this line.
 */
export const updateKey: string | null = null;
