/** Where the service serves the documentation. Apart from the list of pages, which few parts of the window need. */

/** @param url Of the service, without a slash at its end. @returns the address of a page. */
export const documentationUrl = (url: string, path: string): string => `${url}/docs/${path}.html`;

/** @returns the address of the page that describes every operation of the API. */
export const apiReferenceUrl = (url: string): string => `${url}/docs/api`;
