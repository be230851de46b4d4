/** The network switch: with it off nothing leaves this machine, and nothing on it is cut off. */

/** Why something did not happen; also kept with a delivery. */
export const networkIsOff = 'the network is switched off in the settings';

/**
 * True if a host is this machine by its name alone. Resolving a name would already use the network.
 * @param host As in a URL, with or without the brackets of IPv6.
 */
export const isThisMachine = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
