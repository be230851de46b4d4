/** The addresses of `keyhearth dev` beside this machine's own loopback. */
import { isIP } from 'node:net';
import type { Config } from '../../app/config.ts';
import { CommandError, exitCodes, note } from '../shared/output.ts';

interface ExposureFlags {
  readonly ui?: boolean;
  readonly host?: string;
  readonly allowHost: readonly string[];
}

/** @throws CommandError for an invalid address or host, and for a window that another machine could reach. */
export function readExposure({ ui, host, allowHost }: ExposureFlags): Config['exposure'] {
  if (host !== undefined && isIP(host) === 0) {
    throw usage(`invalid --host ${JSON.stringify(host)}: expected an IP address, like 0.0.0.0`);
  }
  if (ui === true && (host !== undefined || allowHost.length > 0)) {
    throw usage('invalid --ui: the window is served on loopback alone, without --host and --allow-host');
  }
  const hosts = allowHost.map(hostHeader);
  if (host !== undefined && hosts.length === 0) {
    note(
      `Only requests to localhost are answered, wherever they come from: --allow-host lets other names in.`,
    );
  }
  return { address: host, hosts };
}

/** As clients write it in their Host header. */
function hostHeader(text: string): string {
  const url = URL.parse(`http://${text}`);
  // A URL leaves the port 80 out.
  if (url === null || (url.host !== text.toLowerCase() && `${url.host}:80` !== text.toLowerCase())) {
    throw usage(
      `invalid --allow-host ${JSON.stringify(text)}: expected a host name, like vault or localhost:8080`,
    );
  }
  return text.toLowerCase();
}

const usage = (message: string): CommandError => new CommandError(exitCodes.usage, message);
