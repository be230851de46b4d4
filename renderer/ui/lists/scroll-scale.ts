/**
 * Scrolling through more than a browser can lay out. Chromium cuts elements off at 33 million pixels; a million rows have more.
 * So a list that is longer is laid out shorter: small steps move it by as much as they say, and a long way, by the scroll
 * bar or a key, leads to the same part of the whole.
 */

/** Greatest height of the laid-out list, in pixels; well below every browser's limit. */
const tallest = 8_000_000;

/** The laid-out height of a list. */
export const laidOut = (height: number): number => Math.min(height, tallest);

export class ScrollScale {
  /** Of the whole list, in pixels. */
  #height = 0;
  /** Of what is seen of it. */
  #seen = 0;
  /** Difference between the position in the list and the one in its laid-out part. */
  #shift = 0;
  #last = 0;

  get shift(): number {
    return this.#shift;
  }

  get #furthest(): number {
    return Math.max(0, this.#height - this.#seen);
  }

  get #furthestLaidOut(): number {
    return Math.max(0, laidOut(this.#height) - this.#seen);
  }

  /** True if less is laid out than there is. */
  get isShortened(): boolean {
    return this.#height > tallest;
  }

  resize(height: number, seen: number): void {
    this.#height = height;
    this.#seen = seen;
  }

  /** Answers the position in the list after scrolling. */
  scrolled(top: number): number {
    const isFar = Math.abs(top - this.#last) > 3 * this.#seen;
    const atAnEnd = top <= 0 || top >= this.#furthestLaidOut - 1;
    if (isFar || atAnEnd) this.#shift = this.#positionFor(top) - top;
    this.#last = top;
    return Math.max(0, Math.min(this.#furthest, top + this.#shift));
  }

  /** Answers the scroll offset for a position in the list. */
  topFor(position: number): number {
    const wanted = Math.max(0, Math.min(this.#furthest, position));
    const top = this.#furthest === 0 ? 0 : Math.round((wanted / this.#furthest) * this.#furthestLaidOut);
    this.#shift = wanted - top;
    this.#last = top;
    return top;
  }

  /**
   * True if small steps have led so far from the proportional position that the laid-out part would end too
   * soon.
   */
  isOff(top: number): boolean {
    const off = Math.abs(this.#positionFor(top) - (top + this.#shift));
    return this.isShortened && off > this.#seen;
  }

  #positionFor(top: number): number {
    if (this.#furthestLaidOut === 0) return 0;
    return Math.round((Math.max(0, top) / this.#furthestLaidOut) * this.#furthest);
  }
}
