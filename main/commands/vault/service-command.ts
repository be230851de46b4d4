/** The declarations of `keyhearth service`. */
import { Option, type Command } from 'commander';
import { allowOrigin, noKeychain, oidcIssuer, passwordFile, port, rpId } from '../shared/options.ts';
import type { InstallOptions } from './service.ts';
import { addSubcommand } from '../shared/subcommand.ts';

export function declareService(program: Command): void {
  const service = program.command('service').description('Run the vault as a service of systemd or launchd');
  addSubcommand<InstallOptions>(service, {
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
    run: async (config, flags) => (await import('./service.ts')).installService(config, flags),
  });
  addSubcommand(service, {
    name: 'uninstall',
    description: 'Stop and remove the service; the vault stays',
    run: async (config, { json }) => (await import('./service.ts')).uninstallService(config, json),
  });
  addSubcommand(service, {
    name: 'status',
    description: 'Show whether the service is installed and running',
    run: async (config, { json }) => (await import('./service.ts')).serviceStatus(config, json),
  });
}
