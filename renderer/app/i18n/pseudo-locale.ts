/** A language for tests of the window itself: what it says can be read, and is longer, accented and in brackets. */

const accents: Readonly<Record<string, string>> = {
  ...{
    a: 'á',
    b: 'ƀ',
    c: 'ç',
    d: 'ð',
    e: 'é',
    f: 'ƒ',
    g: 'ğ',
    h: 'ĥ',
    i: 'í',
    j: 'ĵ',
    k: 'ķ',
    l: 'ļ',
    m: 'ɱ',
  },
  ...{
    n: 'ñ',
    o: 'ö',
    p: 'þ',
    q: 'ǫ',
    r: 'ŕ',
    s: 'š',
    t: 'ţ',
    u: 'û',
    v: 'ṽ',
    w: 'ŵ',
    x: 'ẋ',
    y: 'ý',
    z: 'ž',
  },
  ...{
    A: 'Á',
    B: 'Ɓ',
    C: 'Ç',
    D: 'Ð',
    E: 'É',
    F: 'Ƒ',
    G: 'Ğ',
    H: 'Ĥ',
    I: 'Í',
    J: 'Ĵ',
    K: 'Ķ',
    L: 'Ļ',
    M: 'Ṁ',
  },
  ...{
    N: 'Ñ',
    O: 'Ö',
    P: 'Þ',
    Q: 'Ǫ',
    R: 'Ŕ',
    S: 'Š',
    T: 'Ţ',
    U: 'Û',
    V: 'Ṽ',
    W: 'Ŵ',
    X: 'Ẋ',
    Y: 'Ý',
    Z: 'Ž',
  },
};

/** The parts that a translation must keep as they are: values and tags. */
const kept = /(\{\{[^}]*\}\}|<\/?\w+\/?>)/;

/** Translations of short texts grow more than those of long ones. */
const growth = 0.3;

export const openingBracket = '⟦';
export const closingBracket = '⟧';

export function pseudoText(text: string): string {
  const parts = text.split(kept);
  const letters = parts.filter((part) => !kept.test(part)).join('').length;
  const accented = parts.map((part) =>
    kept.test(part) ? part : part.replaceAll(/[a-zA-Z]/g, (letter) => accents[letter] ?? letter),
  );
  const filling = Array.from({ length: Math.ceil(letters * growth) }, (_, index) =>
    index % 6 === 0 ? ' ' : '~',
  );
  return openingBracket + accented.join('') + filling.join('').trimEnd() + closingBracket;
}

export const pseudoTexts = <Key extends string>(texts: Readonly<Record<Key, string>>): Record<Key, string> =>
  Object.fromEntries(Object.entries<string>(texts).map(([key, text]) => [key, pseudoText(text)])) as Record<
    Key,
    string
  >;
