/**
 * The base of links to the service's own pages. A browser uses the origin of the window: at another name of this computer, the
 * service takes the window for a foreign page. The desktop app has an origin without a service, and uses the service's URL.
 */
export const pagesUrl = (url: string): string =>
  /^https?:$/.test(window.location.protocol) ? window.location.origin : url;
