/** The window's one page, and how to tell it from every other. */

export const scheme = 'keyhearth';

/** Address of the page. */
export const pageUrl = `${scheme}://app/`;

/** True for the page's own address, with any fragment. */
export const isPage = (address: string): boolean => URL.parse(address)?.href.split('#', 1)[0] === pageUrl;
