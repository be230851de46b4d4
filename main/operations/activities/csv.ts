/** Comma-separated values (RFC 4180), as spreadsheets read them. */

/** One line, without its end. Texts that a spreadsheet would take for a formula begin with an apostrophe. */
export const csvLine = (fields: readonly (string | number)[]): string => fields.map(csvField).join(',');

function csvField(value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value.replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
