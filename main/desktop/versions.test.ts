import { describe, expect, test } from 'vitest';
import { unsupportedRuntime } from './versions.ts';

describe('unsupportedRuntime', () => {
  test('has nothing to say of the oldest versions that are supported, nor of later ones', () => {
    expect(unsupportedRuntime({ node: '24.18.0', electron: '45.0.0' })).toBeUndefined();
    expect(unsupportedRuntime({ node: '26.1.0', electron: '47.2.1' })).toBeUndefined();
  });

  test.each([
    [
      { node: '24.18.0', electron: '44.9.9' },
      'Keyhearth needs electron 45 or later; this is electron 44.9.9.',
    ],
    [{ node: '20.20.2', electron: '45.0.0' }, 'Keyhearth needs node 24 or later; this is node 20.20.2.'],
    [{ node: '24.18.0' }, 'Keyhearth needs electron 45 or later; this is electron none.'],
  ])('names what is too old in %j', (versions, message) => {
    expect(unsupportedRuntime(versions)).toBe(message);
  });
});
