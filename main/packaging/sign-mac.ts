/**
 * electron-builder's hook that signs the app for macOS. It signs as electron-builder does without a hook, but the command in
 * `Contents/Resources/bin` gets entitlements of its own: it loads native modules that another certificate signed, which
 * the app itself must never do.
 */
import { join } from 'node:path';

const commandEntitlements = join(import.meta.dirname, 'entitlements.command.plist');

interface FileOptions {
  readonly entitlements?: string | readonly string[];
}

/** The part of `@electron/osx-sign`'s options that is read or changed here. */
interface SignOptions {
  readonly app: string;
  /** Name or hash of the certificate. */
  readonly identity?: string;
  readonly optionsForFile?: (path: string) => FileOptions | null;
}

/** electron-builder's packager for macOS. */
interface MacPackager {
  /** Signs without a hook where the configuration names none. */
  doSign(
    options: SignOptions,
    configuration: Readonly<Record<string, never>>,
    identity: { readonly name: string | undefined },
  ): Promise<void>;
}

export async function sign(options: SignOptions, packager: MacPackager): Promise<void> {
  const command = join(options.app, 'Contents/Resources/bin/keyhearth');
  const optionsForFile = (path: string): FileOptions | null => {
    const usual = options.optionsForFile?.(path) ?? null;
    return path === command ? { ...usual, entitlements: commandEntitlements } : usual;
  };
  await packager.doSign({ ...options, optionsForFile }, {}, { name: options.identity });
}
