/** A file that is written in the window and may be longer than its memory. */

/** Characters after which what was gathered is handed to the browser, which keeps what is long on the disk. */
const handedOver = 4_000_000;

export class GrowingFile {
  readonly #type: string;
  readonly #blobs: Blob[] = [];
  #texts: string[] = [];
  #length = 0;

  /** @param type Its media type. */
  constructor(type: string) {
    this.#type = type;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#length >= handedOver) this.#handOver();
  }

  #handOver(): void {
    this.#blobs.push(new Blob(this.#texts));
    this.#texts = [];
    this.#length = 0;
  }

  /** Hands the file to the browser to save; Electron shows a dialog for where. */
  save(name: string): void {
    this.#handOver();
    const address = URL.createObjectURL(new Blob(this.#blobs, { type: this.#type }));
    saveByLink(address, name);
    // The browser takes it in its own time.
    setTimeout(() => {
      URL.revokeObjectURL(address);
    }, 60_000);
  }
}

/** Has the browser save what is at an address of this window's own. */
export function saveByLink(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

/** For the name of a file: `2026-01-31`. */
export const today = (): string => new Date().toISOString().slice(0, 10);
