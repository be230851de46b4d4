/** When a process that runs until it is stopped also ends with the process that started it. */

/** A shell that was told more than one command may end and leave this one to go on. npm quotes what it is given. */
const npmScript =
  /^'?(keyhearth|node (--import \.\/main\/packaging\/check-node\.mjs )?main\/start\.ts)'?( [^&;|<>()`$]*)?$/;

/** Holds the id of the process that `become` left in front of this one. */
export const launcherVariable = 'KEYHEARTH_LAUNCHER';

/**
 * Whether the end of the parent is a signal to end: it is the shell of npm with this one command to run, or it waits for
 * this process and does nothing else.
 * @param parent its process id.
 */
export const endsWithParent = (
  environment: Readonly<Record<string, string | undefined>>,
  parent: number,
): boolean =>
  npmScript.test(environment['npm_lifecycle_script'] ?? '') ||
  environment[launcherVariable] === String(parent);
