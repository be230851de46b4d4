/** What the service says of a wrong field names it as a script knows it; a person sees the field it stands at. */
export function readable(message: string): string {
  const bare = message.replace(
    /^(?:invalid|missing field) (?:parameters|vault|unlock|body|backup|schedule|messages|test)\.[\w.[\]]+: /,
    '',
  );
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}
