import { describe, expect, test } from 'vitest';
import { readWebOrigins } from './web-origins.ts';

describe('readWebOrigins', () => {
  test.each([
    ['https://app.example', ['https://app.example']],
    ['https://app.example, http://localhost:3000', ['https://app.example', 'http://localhost:3000']],
    [' ["https://app.example"]', ['https://app.example']],
    ['["https://app.example","https://b.example:8443"]', ['https://app.example', 'https://b.example:8443']],
  ])('reads %j', (text, origins) => {
    expect(readWebOrigins(text)).toEqual(origins);
  });

  test.each([
    '',
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    'HTTPS://app.example',
    'ftp://app.example',
    'https://app.example,',
    '[]',
    '["https://app.example", 7]',
    '["https://app.example"',
    'null',
  ])('refuses %j', (text) => {
    expect(readWebOrigins(text)).toBeUndefined();
  });
});
