/**
 * Position and size of the window, kept beside Chromium's files. They are optional: an invalid file is
 * ignored.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, screen } from 'electron';
import type { BrowserWindow, Rectangle } from 'electron';
import { report } from './report.ts';
import { owned } from '../lib/faults.ts';

export interface WindowState {
  readonly width: number;
  readonly height: number;
  /** Left out where no screen would show it. */
  readonly x?: number;
  readonly y?: number;
  readonly isMaximized: boolean;
}

export const smallest = { width: 720, height: 520 } as const;
const usual: WindowState = { width: 1120, height: 760, isMaximized: false };

/** So much of the window must be on a screen, in pixels, for its owner to get hold of it. */
const grip = { width: 120, height: 40 } as const;

/** Between the last change and its note, in milliseconds. */
const rest = 500;

const stateFile = (): string => join(app.getPath('userData'), 'window-state.json');

/** @returns what fits the screens of today. */
export function readWindowState(): WindowState {
  const found = readStateFile();
  if (found === undefined) return usual;
  const { x, y, width, height, isMaximized } = found;
  const areas = screen.getAllDisplays().map(({ workArea }) => workArea);
  const home = areas.find((area) => isWithin({ ...found, width: Math.max(width, smallest.width) }, area));
  const widest = Math.max(...areas.map((area) => area.width), smallest.width);
  const highest = Math.max(...areas.map((area) => area.height), smallest.height);
  return {
    width: clamp(width, smallest.width, home?.width ?? widest),
    height: clamp(height, smallest.height, home?.height ?? highest),
    ...(home === undefined ? {} : { x, y }),
    isMaximized,
  };
}

/** Keeps noting it while the window is there. */
export function keepWindowState(window: BrowserWindow): void {
  let timer: NodeJS.Timeout | undefined;
  const note = (): void => {
    clearTimeout(timer);
    if (window.isDestroyed()) return;
    try {
      const state = { ...window.getNormalBounds(), isMaximized: window.isMaximized() };
      writeFileSync(stateFile(), `${JSON.stringify(state)}\n`, { mode: 0o600 });
    } catch (error) {
      report('the window’s place was not noted', error);
    }
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(owned(note), rest).unref();
  };
  window.on('resize', soon);
  window.on('move', soon);
  window.on('maximize', soon);
  window.on('unmaximize', soon);
  window.on('close', note);
}

function readStateFile(): (Rectangle & { readonly isMaximized: boolean }) | undefined {
  try {
    const found = JSON.parse(readFileSync(stateFile(), 'utf8')) as Partial<Record<string, unknown>> | null;
    const [x, y, width, height] = [found?.['x'], found?.['y'], found?.['width'], found?.['height']];
    if (!isLength(x) || !isLength(y) || !isLength(width) || !isLength(height)) return undefined;
    return { x, y, width, height, isMaximized: found?.['isMaximized'] === true };
  } catch {
    return undefined;
  }
}

const isLength = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Math.abs(value as number) < 100_000;

/** True if enough of a window's top is in an area. */
function isWithin({ x, y, width }: Rectangle, area: Rectangle): boolean {
  const overlap = Math.min(x + width, area.x + area.width) - Math.max(x, area.x);
  return overlap >= grip.width && y >= area.y && y <= area.y + area.height - grip.height;
}

const clamp = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(value, Math.max(least, most)));
