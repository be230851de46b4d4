/** The pixels of a picture that Chromium took (PNG, third edition): 8 bits a channel, colour, not interlaced. */
import { inflateSync } from 'node:zlib';

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row from the top. */
  readonly data: Uint8Array;
}

const signature = '89504e470d0a1a0a';

/** Bytes per pixel, by colour type. */
const channels: Readonly<Record<number, number>> = { 2: 3, 6: 4 };

/** @throws Error for a PNG of any other kind. */
export function readPng(png: Buffer): Pixels {
  if (png.subarray(0, 8).toString('hex') !== signature) throw new Error('expected a PNG');
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const [depth, colour = 0, , , interlace] = png.subarray(24, 29);
  const size = channels[colour];
  if (depth !== 8 || interlace !== 0 || size === undefined) {
    throw new Error(`expected 8 bits of RGB or RGBA, got depth ${String(depth)}, colour type ${colour}`);
  }
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const rows = unfilter(inflateSync(Buffer.concat(parts)), width * size, height, size);
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    data.set(rows.subarray(pixel * size, (pixel + 1) * size), pixel * 4);
  }
  return { width, height, data };
}

/** Section 9: each byte is given by its difference from what its neighbours to the left and above predict. */
function unfilter(filtered: Buffer, stride: number, height: number, size: number): Uint8Array {
  const rows = new Uint8Array(stride * height);
  for (let y = 0; y < height; y += 1) {
    const from = y * (stride + 1);
    const filter = filtered[from] ?? 0;
    for (let x = 0; x < stride; x += 1) {
      const at = y * stride + x;
      const left = x < size ? 0 : (rows[at - size] ?? 0);
      const above = y === 0 ? 0 : (rows[at - stride] ?? 0);
      const corner = x < size || y === 0 ? 0 : (rows[at - stride - size] ?? 0);
      rows[at] = (filtered[from + 1 + x] ?? 0) + predict(filter, left, above, corner);
    }
  }
  return rows;
}

function predict(filter: number, left: number, above: number, corner: number): number {
  switch (filter) {
    case 0:
      return 0;
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return Math.floor((left + above) / 2);
    case 4: {
      const estimate = left + above - corner;
      const [dLeft, dAbove, dCorner] = [left, above, corner].map((each) => Math.abs(estimate - each)) as [
        number,
        number,
        number,
      ];
      if (dLeft <= dAbove && dLeft <= dCorner) return left;
      return dAbove <= dCorner ? above : corner;
    }
    default:
      throw new Error(`unknown PNG filter ${filter}`);
  }
}
