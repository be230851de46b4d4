/** A user's email address and phone number in requests. */
import { z } from 'zod';

export const phoneNumber = z
  .string()
  .regex(/^\+[1-9][0-9]{6,14}$/, 'Expected a phone number in E.164 form, like +15551234567');

/** Contact fields may come empty from clients that always send them: empty means none. */
export const optionalContact = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal('').transform(() => undefined), schema]).optional();

/** Accepts an empty text too, which removes the contact. */
export const removableContact = <Schema extends z.ZodType<string>>(schema: Schema) =>
  z.union([z.literal(''), schema]);
