/**
 * The output of electron-builder for electron-builder.yml: its own schema first, then a whole application
 * folder, packed around a stand-in for Electron's program, which a test machine does not have.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { extractAll, extractFile, listPackage, statFile } from '@electron/asar';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { applicationId } from '../../main/desktop/application-id.ts';
import { afterPack } from '../../main/packaging/after-pack.ts';
import { expectToServeAndSign } from '../project/packed-command.ts';

const projectRoot = join(import.meta.dirname, '../..');

/** Loads what electron-builder itself uses, from where it finds it. */
const builder = createRequire(createRequire(import.meta.url).resolve('electron-builder'));
const lib = createRequire(builder.resolve('app-builder-lib'));

type Configuration = Readonly<Record<string, unknown>>;

/** The parts of app-builder-lib that read and check a configuration; it declares no types for these paths. */
interface ConfigModule {
  readonly getConfig: (projectDir: string, configPath: string, options: null) => Promise<Configuration>;
  readonly validateConfiguration: (
    config: Configuration,
    debugLogger: { readonly isEnabled: boolean },
  ) => Promise<void>;
}
const { getConfig, validateConfiguration } = lib('./util/config/config.js') as ConfigModule;

const megabyte = 2 ** 20;
const quiet = { isEnabled: false };
const read = (file = 'electron-builder.yml'): Promise<Configuration> => getConfig(projectRoot, file, null);

describe('electron-builder.yml', () => {
  test('is what electron-builder’s schema allows', async () => {
    await expect(validateConfiguration(await read(), quiet)).resolves.toBeUndefined();
  });

  test.each([
    [{ electronFuse: {} }, /electronFuse/],
    [{ electronFuses: { runAsnode: false } }, /electronFuses/],
    [{ toolsets: { appimage: '9.9.9' } }, /appimage/],
  ])('would not be with %j', async (mistake, message) => {
    await expect(validateConfiguration({ ...(await read()), ...mistake }, quiet)).rejects.toThrow(message);
  });

  test('sets the fuses, makes every installer for both processors, and publishes nothing', async () => {
    const config = await read();
    expect(config).toMatchObject({
      appId: applicationId,
      productName: 'Keyhearth',
      publish: null,
      electronFuses: {
        // Without it, a Mac with an Apple processor kills the app at its start.
        resetAdHocDarwinSignature: true,
        runAsNode: false,
        enableCookieEncryption: false,
        enableNodeOptionsEnvironmentVariable: false,
        enableNodeCliInspectArguments: false,
        enableEmbeddedAsarIntegrityValidation: true,
        onlyLoadAppFromAsar: true,
        grantFileProtocolExtraPrivileges: false,
      },
      toolsets: { appimage: '1.0.3' },
      // As docs/service-and-updates.md has it; Electron 44 was the first that needs it.
      mac: { hardenedRuntime: true, minimumSystemVersion: '13.0' },
    });
    const targets = Object.fromEntries(
      ['linux', 'mac', 'win'].map((platform) => [
        platform,
        (config[platform] as { target: { target: string; arch: string[] }[] }).target.map(
          ({ target, arch }) => `${target} ${arch.join('+')}`,
        ),
      ]),
    );
    expect(targets).toEqual({
      linux: ['AppImage x64+arm64', 'deb x64+arm64', 'rpm x64+arm64'],
      mac: ['dmg x64+arm64', 'zip x64+arm64'],
      win: ['nsis x64+arm64', 'msi x64+arm64'],
    });
  });

  test('has a flavour to be tested, which differs by the inspector’s fuse and makes no installers', async () => {
    const flavour = await read('electron-builder.test.yml');
    await expect(validateConfiguration(flavour, quiet)).resolves.toBeUndefined();
    const shipped = await read();
    const same = (config: Configuration): object => ({
      ...config,
      ...{ extends: 0, directories: 0, electronFuses: 0, linux: 0, mac: 0, win: 0 },
      ...{ productName: 0, extraMetadata: 0 },
    });
    expect(same(flavour)).toEqual(same(shipped));
    expect(flavour['electronFuses']).toEqual({
      ...(shipped['electronFuses'] as object),
      enableNodeCliInspectArguments: true,
    });
    // By this name `refuseDebuggers` knows it; what is shipped must not have it.
    expect(flavour['extraMetadata']).toEqual({ productName: 'Keyhearth Test' });
    expect(shipped['extraMetadata']).toEqual({ productName: 'Keyhearth' });
    for (const platform of ['linux', 'mac', 'win']) {
      const { target, identity: _, ...rest } = flavour[platform] as Record<string, unknown>;
      expect(target).toBe('dir');
      expect(shipped[platform]).toMatchObject(rest);
    }
  });

  test('names files that exist', async () => {
    const { icon, mac, nsis } = (await read()) as {
      icon: string;
      mac: { entitlements: string; sign: string };
      nsis: { include: string };
    };
    for (const file of [mac.entitlements, mac.sign, nsis.include]) {
      expect(existsSync(join(projectRoot, file)), file).toBe(true);
    }
    // macOS and Windows icons are made of this one, which takes 512 pixels at least.
    expect(await pngSize(join(projectRoot, icon))).toEqual([1024, 1024]);
  });
});

test.each([
  ['window.png', 256],
  ['tray.png', 32],
  ['tray@2x.png', 64],
  ['trayTemplate.png', 16],
  ['trayTemplate@2x.png', 32],
])('the icon %s has %i pixels a side', async (name, size) => {
  expect(await pngSize(join(projectRoot, 'main/desktop/icons', name))).toEqual([size, size]);
});

/** Width and height from a PNG's first chunk. */
async function pngSize(path: string): Promise<[number, number]> {
  const bytes = await readFile(path);
  expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

describe('what is packed for one machine on another', () => {
  test('is refused, with the native modules that it lacks and those of no use to it', async () => {
    const resources = await mkdtemp(join(tmpdir(), 'keyhearth-pack-'));
    const modules = join(resources, 'app.asar.unpacked/node_modules');
    const add = async (path: string): Promise<void> => {
      await mkdir(join(modules, path, '..'), { recursive: true });
      await writeFile(join(modules, path), '');
    };
    const context = {
      appOutDir: resources,
      electronPlatformName: 'darwin',
      arch: 1,
      packager: { getResourcesDir: () => resources },
    };
    await add('better-sqlite3/prebuilds/darwin-x64.node');
    await add('keytar/prebuilds/darwin-x64/keytar.node');
    await add('@node-rs/argon2-darwin-arm64/argon2.darwin-arm64.node');
    await expect(afterPack(context)).rejects.toThrow(
      /missing: @node-rs[/]argon2\n {2}not for it: .*argon2[.]darwin-arm64[.]node\n/,
    );
    await rm(join(modules, '@node-rs'), { recursive: true });
    await add('@node-rs/argon2-darwin-x64/argon2.darwin-x64.node');
    await expect(afterPack(context)).resolves.toBeUndefined();
    await rm(resources, { recursive: true });
  });
});

// Electron's fuses: this text, the version of the list, its length, and a character for each (Electron's defaults).
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const defaults = '101100011';

/** Puts a stand-in for Electron's distribution into a directory. @returns its path. */
async function standIn(directory: string): Promise<string> {
  const electron = join(directory, 'electron');
  await mkdir(join(electron, 'resources'), { recursive: true });
  await writeFile(join(electron, 'electron'), `\u007fELF${sentinel}\u0001\u0009${defaults}`, { mode: 0o755 });
  return electron;
}

describe('the packages for Linux', () => {
  interface Made {
    readonly arguments: readonly string[];
    readonly entry: string;
    readonly entryFile: string;
  }
  let directory: string;
  const made = new Map<string, Made>();

  // electron-builder hands over what it would pack, before the tools that it would have to fetch.
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keyhearth-linux-'));
    const { build, Platform } = builder('electron-builder') as {
      readonly build: (options: object) => Promise<unknown>;
      readonly Platform: { readonly LINUX: { createTarget: (targets: string[], arch: number) => unknown } };
    };
    const { Arch } = builder('builder-util') as { readonly Arch: Readonly<Record<string, number>> };
    await build({
      projectDir: projectRoot,
      publish: 'never',
      targets: Platform.LINUX.createTarget(['AppImage', 'deb', 'rpm'], Arch[process.arch] ?? -1),
      config: {
        extends: join(projectRoot, 'electron-builder.yml'),
        electronDist: await standIn(directory),
        directories: { output: join(directory, 'output'), buildResources: 'main/desktop/icons' },
        extraMetadata: { productName: 'Keyhearth', homepage: 'https://keyhearth.example' },
      },
      effectiveOptionComputed: async (
        options: [string[], string] | { readonly desktop: string; readonly desktopFileName: string },
      ) => {
        if (!Array.isArray(options)) {
          made.set('AppImage', { arguments: [], entry: options.desktop, entryFile: options.desktopFileName });
          return true;
        }
        const [words, file] = options;
        const [, entryFile = ''] = words.find((word) => word.startsWith(`${file}=`))?.split('=') ?? [];
        const [, kind = ''] = /[.](deb|rpm)$/.exec(words[words.indexOf('--package') + 1] ?? '') ?? [];
        made.set(kind, { arguments: words, entry: await readFile(file, 'utf8'), entryFile });
        return true;
      },
    });
  });

  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  test('have one identity: the entry’s file, the window’s class, and what Electron calls itself', async () => {
    const { desktopName } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
      readonly desktopName: string;
    };
    // Electron strips one `.desktop` and hands the rest to portals, which know reverse DNS alone.
    const [, identity = ''] = /^((?:[a-z]\w*[.]){2,}\w+)[.]desktop$/i.exec(desktopName) ?? [];
    expect(identity).not.toBe('');
    expect([...made.keys()].sort()).toEqual(['AppImage', 'deb', 'rpm']);
    for (const [kind, { entry, entryFile }] of made) {
      expect(basename(entryFile), kind).toBe(desktopName);
      expect(entry, kind).toMatch(new RegExp(`^StartupWMClass=${identity}$`, 'm'));
      expect(entry, kind).toMatch(/^MimeType=x-scheme-handler\/keyhearth;$/m);
      // Only AppRun adds it, where the system refuses user namespaces.
      expect(entry, kind).not.toContain('--no-sandbox');
    }
  });

  test('ask for the C library that the native modules were built for, and for the keychain’s', async () => {
    const modules = (await readdir(join(directory, 'output'), { recursive: true })).filter((path) =>
      path.endsWith('.node'),
    );
    expect(modules).toHaveLength(3);
    const wanted = await Promise.all(
      modules.map(async (path) => {
        const text = await readFile(join(directory, 'output', path), 'latin1');
        return Math.max(...[...text.matchAll(/GLIBC_2[.](\d+)/g)].map(([, minor]) => Number(minor)));
      }),
    );
    const oldest = `2.${String(Math.max(...wanted))}`;
    expect(made.get('deb')?.arguments).toContain(`--depends=libc6 (>= ${oldest})`);
    expect(made.get('rpm')?.arguments).toEqual(
      expect.arrayContaining([`--depends=glibc >= ${oldest}`, '--depends=libsecret']),
    );
    expect(await readFile(join(projectRoot, 'docs/service-and-updates.md'), 'utf8')).toContain(
      `glibc ${oldest}`,
    );
  });
});

/** Source maps, which name the lines of the sources in a logged stack. */
const isServiceMap = (path: string): boolean => /^dist\/main\/[\w-]+[.]js[.]map$/.test(path);

describe('the packed application', () => {
  let directory: string;
  let resources: string;
  let archive: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keyhearth-pack-'));
    const electron = await standIn(directory);
    const output = join(directory, 'output');
    await promisify(execFile)(
      process.execPath,
      [
        builder.resolve('electron-builder/cli.js'),
        ...['--linux', 'dir', `--${process.arch}`, '--publish', 'never'],
        `-c.electronDist=${electron}`,
        `-c.directories.output=${output}`,
      ],
      { cwd: projectRoot },
    );
    const [unpacked = ''] = (await readdir(output)).filter((name) => name.endsWith('-unpacked'));
    resources = join(output, unpacked, 'resources');
    archive = join(resources, 'app.asar');
  });

  afterAll(async () => {
    await rm(directory, { recursive: true });
  });

  const packedFiles = (): string[] =>
    listPackage(archive, { isPack: false })
      .map((path) => path.slice(1))
      .filter((path) => !('files' in statFile(archive, path)));

  test('holds the bundles as they were built', async () => {
    const dist = join(projectRoot, 'dist');
    const built = (await readdir(dist, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)));
    expect(built.length).toBeGreaterThan(3);
    const packed = packedFiles().filter((path) => path.startsWith('dist/'));
    expect(packed.sort()).toEqual(built.sort());
    for (const path of built) {
      const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
      expect(digest(extractFile(archive, path)), path).toBe(digest(await readFile(join(projectRoot, path))));
    }
  });

  test('holds the native modules of this platform, and nothing that was for building or testing', () => {
    const packed = packedFiles();
    const packages = new Set(
      packed.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
    );
    const platform = `linux-${process.arch}`;
    expect([...packages].sort()).toEqual([
      '@node-rs/argon2',
      `@node-rs/argon2-${platform}-gnu`,
      'better-sqlite3',
      'keytar',
      'tiny-secp256k1',
      'uint8array-tools',
    ]);
    expect(packed.filter((path) => !/^(dist|node_modules)\//.test(path)).sort()).toEqual([
      'main/desktop/icons/badge.png',
      'main/desktop/icons/tray.png',
      'main/desktop/icons/tray@2x.png',
      'main/desktop/icons/trayTemplate.png',
      'main/desktop/icons/trayTemplate@2x.png',
      'main/desktop/icons/trayWaiting.png',
      'main/desktop/icons/trayWaiting@2x.png',
      'main/desktop/icons/trayWaitingTemplate.png',
      'main/desktop/icons/trayWaitingTemplate@2x.png',
      'main/desktop/icons/window.png',
      'package.json',
    ]);
    const forBuilding = packed.filter((path) => /[.](map|ts|c|cpp|h|gyp)$|README/.test(path));
    expect(forBuilding.filter((path) => !isServiceMap(path))).toEqual([]);
    expect(packed.filter((path) => path.includes('/LICENSE')).length).toBeGreaterThan(2);
    expect(packed.filter((path) => path.endsWith('.node')).sort()).toEqual([
      `node_modules/@node-rs/argon2-${platform}-gnu/argon2.${platform}-gnu.node`,
      `node_modules/better-sqlite3/prebuilds/${platform}.node`,
      `node_modules/keytar/prebuilds/${platform}/keytar.node`,
    ]);
  });

  test('has the native modules, and only them, beside the archive, where they load', async () => {
    const entries = await readdir(`${archive}.unpacked`, {
      recursive: true,
      withFileTypes: true,
    });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files).toHaveLength(3);
    const load = createRequire(import.meta.url);
    for (const file of files) {
      expect(file).toMatch(/[.]node$/);
      expect(Object.keys(load(file) as object), file).not.toEqual([]);
    }
  });

  test('brings no dependency of development', async () => {
    const lock = JSON.parse(await readFile(join(projectRoot, 'package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly dev?: true } | undefined>>;
    };
    const directories = new Set(
      packedFiles().flatMap((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
    );
    for (const directory of directories) {
      expect(lock.packages[directory], directory).toBeDefined();
      expect(lock.packages[directory]?.dev, directory).toBeUndefined();
    }
  });

  test('tells nothing of the machine that built it', () => {
    const places = [projectRoot, directory];
    for (const path of packedFiles()) {
      const text = extractFile(archive, path).toString('latin1');
      // Prebuilt programs are their makers'.
      if (path.endsWith('.node') || path.endsWith('.wasm')) continue;
      for (const place of places) expect(text.includes(place), `${place} in ${path}`).toBe(false);
      if (/^dist\/(?!main\/|reference\/)/.test(path))
        expect(text, path).not.toMatch(/^\/\/# sourceMappingURL=/m);
    }
  });

  test('maps the stacks of the service to the lines of its sources, without their text', () => {
    const maps = packedFiles().filter(isServiceMap);
    expect(maps).toContain('dist/main/index.js.map');
    for (const path of maps) {
      const { sources, sourcesContent } = JSON.parse(extractFile(archive, path).toString('utf8')) as {
        readonly sources: readonly string[];
        readonly sourcesContent?: unknown;
      };
      expect(sourcesContent, path).toBeUndefined();
      for (const source of sources) expect(source, path).not.toMatch(/^[\\/]|^\w+:[\\/]/);
    }
  });

  test('keeps to its size', async () => {
    const sizes = async (path: string): Promise<number> => (await stat(path)).size;
    const beside = (await readdir(`${archive}.unpacked`, { recursive: true, withFileTypes: true })).filter(
      (entry) => entry.isFile(),
    );
    const native = await Promise.all(beside.map((entry) => sizes(join(entry.parentPath, entry.name))));
    // The size without Electron itself, which is some 250 MB. The documentation is 0.75 MB of it.
    expect(await sizes(archive)).toBeLessThan(23 * megabyte);
    expect(native.reduce((sum, size) => sum + size, 0)).toBeLessThan(5 * megabyte);
  });

  test('boots without a window from what was packed, and signs', async () => {
    // Node reads no archive; Electron reads it as the folder that comes out here.
    const folder = join(directory, 'extracted');
    extractAll(archive, folder);
    await expectToServeAndSign([process.execPath, join(folder, 'dist/main/cli.js')]);
  });

  test('has the programs that run without it beside the archive, where another program can run them', async () => {
    for (const name of await readdir(join(projectRoot, 'main/standalone'))) {
      const packed = await readFile(join(resources, 'standalone', name), 'utf8');
      expect(packed).toBe(await readFile(join(projectRoot, 'main/standalone', name), 'utf8'));
    }
  });

  test('has the icon of its About panel beside the archive, where GTK can read it', async () => {
    expect(await pngSize(join(resources, 'icon.png'))).toEqual([1024, 1024]);
  });

  test('starts in the bundle, and knows what Electron to expect', () => {
    const packed = JSON.parse(extractFile(archive, 'package.json').toString()) as Configuration;
    expect(packed).toMatchObject({ main: 'dist/main/index.js', type: 'module', productName: 'Keyhearth' });
    expect(packed).not.toHaveProperty('devDependencies');
    expect(packedFiles()).toContain('dist/preload/index.cjs');
    expect(packedFiles()).toContain('dist/renderer/index.html');
  });

  test('has its fuses burnt into the program', async () => {
    const program = await readFile(join(resources, '../keyhearth-desktop'), 'latin1');
    const fuses = program.slice(program.indexOf(sentinel) + sentinel.length + 2);
    // runAsNode, cookies, NODE_OPTIONS, --inspect, archive integrity, archive only, browser snapshot, file://, wasm traps
    expect(fuses.slice(0, defaults.length)).toBe('000011001');
  });
});
