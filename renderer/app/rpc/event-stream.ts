/** Server-sent events (WHATWG HTML, section 9.2.6), read from text that arrives in pieces. */

/** @returns the function to feed; it calls `onData` with the data of each whole event. */
export function eventStreamReader(onData: (data: string) => void): (piece: string) => void {
  let rest = '';
  let data: string[] = [];
  return (piece) => {
    // A CR at the end may be half of a CRLF whose other half is still to come.
    const text = rest + piece;
    const begun = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - begun.length).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + begun;
    for (const line of lines) {
      if (line !== '') {
        const [, value] = /^data:? ?(.*)$/.exec(line) ?? [];
        if (value !== undefined) data.push(value);
      } else if (data.length > 0) {
        onData(data.join('\n'));
        data = [];
      }
    }
  };
}
