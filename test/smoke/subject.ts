/**
 * The subject of a smoke test: a shipped file, installed as its users install it, or the command from the
 * build.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { until } from './until.ts';

const run = promisify(execFile);

export interface Subject {
  readonly name: string;
  /** The words that start it. */
  readonly program: readonly [string, ...string[]];
  /** True for the desktop app; false for the command, which has no window, tray or sandbox. */
  readonly isDesktop: boolean;
  /** The archive of the app's files; undefined for the command, and where it is packed into another file. */
  readonly archive: string | undefined;
  /** Uninstalls it, and checks that nothing stays that its uninstaller must remove. */
  remove(): Promise<void>;
}

/** Installs a file into a directory of this test alone. @returns the program, and what removes it. */
type Install = (file: string, place: string) => Promise<Omit<Subject, 'name' | 'isDesktop'>>;

const nothing = (): Promise<void> => Promise.resolve();

const macApplication = (place: string): Omit<Subject, 'name' | 'isDesktop'> => ({
  program: [join(place, 'Keyhearth.app/Contents/MacOS/Keyhearth')],
  archive: join(place, 'Keyhearth.app/Contents/Resources/app.asar'),
  remove: nothing,
});

const windowsApplication = (
  place: string,
  remove: () => Promise<void>,
): Omit<Subject, 'name' | 'isDesktop'> => ({
  program: [join(place, 'Keyhearth.exe')],
  archive: join(place, 'resources/app.asar'),
  remove,
});

const linkScheme = String.raw`HKCU\Software\Classes\keyhearth`;

const installs: Readonly<Record<string, Install>> = {
  async '.deb'(file) {
    await run('sudo', ['apt-get', 'install', '--yes', file]);
    return {
      program: ['/opt/Keyhearth/keyhearth-desktop'],
      archive: '/opt/Keyhearth/resources/app.asar',
      async remove() {
        await run('sudo', ['apt-get', 'remove', '--yes', 'keyhearth']);
        if (existsSync('/opt/Keyhearth')) throw new Error('/opt/Keyhearth is still there');
      },
    };
  },
  async '.AppImage'(file, place) {
    const image = join(place, basename(file));
    await copyFile(file, image);
    await chmod(image, 0o755);
    return { program: [image], archive: undefined, remove: nothing };
  },
  async '.dmg'(file, place) {
    const volume = join(place, 'volume');
    await run('hdiutil', ['attach', '-nobrowse', '-readonly', '-mountpoint', volume, file]);
    try {
      await run('ditto', [join(volume, 'Keyhearth.app'), join(place, 'Keyhearth.app')]);
    } finally {
      await run('hdiutil', ['detach', '-force', volume]);
    }
    return macApplication(place);
  },
  async '.zip'(file, place) {
    await run('ditto', ['-x', '-k', file, place]);
    return macApplication(place);
  },
  async '.exe'(file, place) {
    const directory = join(place, 'keyhearth');
    // NSIS takes the rest of its line for the directory, and no quotes.
    await run(file, ['/S', '/currentuser', `/D=${directory}`], { windowsVerbatimArguments: true });
    return windowsApplication(directory, async () => {
      await run(join(directory, 'Uninstall Keyhearth.exe'), ['/S', '/currentuser']);
      // The uninstaller goes on from a copy of itself.
      await until('the uninstaller removes the link scheme', 60_000, () =>
        run('reg', ['query', linkScheme]).then(
          () => undefined,
          () => true,
        ),
      );
    });
  },
  async '.msi'(file, place) {
    const directory = join(place, 'keyhearth');
    await run('msiexec', [
      '/i',
      file,
      '/qn',
      'ALLUSERS=2',
      'MSIINSTALLPERUSER=1',
      `APPLICATIONFOLDER=${directory}`,
    ]);
    return windowsApplication(directory, async () => {
      await run('msiexec', ['/x', file, '/qn']);
    });
  },
};

/**
 * Installs what a release has for this system.
 * @throws Error for a file of no kind that is known, or one that does not install.
 */
export async function install(path: string): Promise<Subject> {
  const file = resolve(path);
  const installer = installs[extname(file)];
  if (installer === undefined) {
    throw new Error(`${file}: expected a file that ends in one of ${Object.keys(installs).join(', ')}`);
  }
  // Windows may name its temporary directory in short, and programs name themselves in full.
  const place = await realpath(await mkdtemp(join(tmpdir(), 'keyhearth-installed-')));
  const installed = await installer(file, place);
  const [program] = installed.program;
  if (!existsSync(program)) {
    throw new Error(`${program} is not there; ${place} has ${(await readdir(place)).join(', ')}`);
  }
  return {
    ...installed,
    name: basename(file),
    isDesktop: true,
    async remove() {
      await installed.remove();
      await rm(place, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** The command as it was built, under this Node. */
export const builtCommand: Subject = {
  name: 'the command',
  program: [process.execPath, join(import.meta.dirname, '../../dist/main/cli.js'), 'serve', '--ui'],
  isDesktop: false,
  archive: undefined,
  remove: nothing,
};
