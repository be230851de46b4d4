/** The declarations of `keyhearth service`. */
import { Option, type Command } from 'commander';
import { allowOrigin, noKeychain, oidcIssuer, passwordFile, port, rpId } from '../shared/options.ts';
import type { InstallOptions } from './service.ts';
import { addSubcommand } from '../shared/subcommand.ts';

interface ServiceFlags extends Pick<InstallOptions, 'keychain'> {
  readonly port?: string;
  readonly ui?: true;
  readonly allowOrigin?: readonly string[];
  readonly oidcIssuer?: readonly string[];
  readonly rpId?: string;
  readonly passwordFile?: string;
  readonly print?: true;
}

export function declareService(program: Command): void {
  const service = program.command('service').description('Run the vault as a service of systemd or launchd');
  addSubcommand<ServiceFlags>(service, {
    name: 'install',
    description: 'Install or replace the service, and start it',
    options: [
      port(),
      new Option('--ui', 'Serve the window in the browser too'),
      allowOrigin(),
      rpId(),
      oidcIssuer(),
      noKeychain(),
      passwordFile(),
      new Option('--print', 'Print the service file; change nothing'),
    ],
    run: async (config, { ui, print, allowOrigin: origins, oidcIssuer: issuers, ...flags }, json) => {
      const { installService } = await import('./service.ts');
      const lists = { allowOrigin: origins ?? [], oidcIssuer: issuers ?? [] };
      await installService(config, { ...flags, ...lists, ui: ui === true, print: print === true, json });
    },
  });
  addSubcommand(service, {
    name: 'uninstall',
    description: 'Stop and remove the service; the vault stays',
    run: async (config, _options, json) => {
      const { uninstallService } = await import('./service.ts');
      await uninstallService(config, json);
    },
  });
  addSubcommand(service, {
    name: 'status',
    description: 'Show whether the service is installed and running',
    run: async (config, _options, json) => {
      const { serviceStatus } = await import('./service.ts');
      await serviceStatus(config, json);
    },
  });
}
