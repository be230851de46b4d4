/** The functions of a policy's `time`: `Timestamp`, and `CronSpan` with its schedules. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** Clocks are changed on the quarter of an hour: until the next, an offset holds. */
const quarter = 15 * minute;

/** @returns milliseconds since 1970, or undefined for a text that is not an RFC 3339 time at offset zero. */
export function parseTimestamp(literal: string): number | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2}(?:\.\d+)?)(?:[Zz]|[+-]00:00)$/.exec(literal);
  const [, date, clock] = match ?? [];
  if (date === undefined || clock === undefined) return undefined;
  const milliseconds = Date.parse(`${date}T${clock.slice(0, 12)}Z`);
  // The 30th of February is not the 2nd of March.
  if (Number.isNaN(milliseconds) || !new Date(milliseconds).toISOString().startsWith(date)) return undefined;
  return milliseconds;
}

/**
 * A whole number of days, hours and minutes, each at most once and in this order: `1d12h`, `90m`.
 * @returns milliseconds above zero, or undefined.
 */
export function parseDuration(literal: string): number | undefined {
  const match = /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?$/.exec(literal);
  if (match === null) return undefined;
  const [days = 0, hours = 0, minutes = 0] = match
    .slice(1)
    .map((part: string | undefined) => Number(part ?? 0));
  const duration = days * day + hours * hour + minutes * minute;
  return duration > 0 ? duration : undefined;
}

/** The longest that a window of `CronSpan` stays open. */
export const maxSpan = 7 * day;

/** By field: its name and what it allows. */
const cronFields = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day of month', 1, 31],
  ['month', 1, 12],
  ['day of week', 0, 6],
] as const;

interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** If both days are restricted, either is enough. */
  readonly eitherDay: boolean;
}

/** @returns the schedule, or what is wrong with it. */
export function parseCron(literal: string): Cron | string {
  const parts = literal.trim().split(/\s+/);
  if (parts.length !== cronFields.length)
    return 'five fields: minute, hour, day of month, month, day of week';
  const sets: ReadonlySet<number>[] = [];
  for (const [index, [name, least, most]] of cronFields.entries()) {
    const values = parseCronField(parts[index] ?? '', least, most);
    if (values === undefined) {
      return `for ${name} "*", or numbers from ${least} to ${most} such as 1, 1-5 or 1,3,5`;
    }
    sets.push(values);
  }
  const none: ReadonlySet<number> = new Set();
  const [minutes = none, hours = none, days = none, months = none, weekdays = none] = sets;
  return { minutes, hours, days, months, weekdays, eitherDay: parts[2] !== '*' && parts[4] !== '*' };
}

function parseCronField(field: string, least: number, most: number): ReadonlySet<number> | undefined {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)$/.exec(part);
    if (match === null) return undefined;
    const first = match[1] === undefined ? least : Number(match[1]);
    const last = match[1] === undefined ? most : Number(match[2] ?? match[1]);
    if (first < least || last > most || first > last) return undefined;
    for (let value = first; value <= last; value++) values.add(value);
  }
  return values;
}

/** For a moment, how many milliseconds the clocks of a zone are ahead of UTC. */
type Offset = (at: number) => number;

/** A zone is costly to make and to ask, and many policies name the same. */
const zones = new Map<string, Offset>();

/** @returns undefined for an unknown zone. */
export function timeZone(name: string): Offset | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const format = zoneFormat(name);
  if (format === undefined) return undefined;
  const offset = remembering((at) => readOffset(format, at));
  if (zones.size >= 100) zones.clear();
  zones.set(name, offset);
  return offset;
}

function remembering(read: Offset): Offset {
  const known = new Map<number, number>();
  return (at) => {
    const index = Math.floor(at / quarter);
    const remembered = known.get(index);
    if (remembered !== undefined) return remembered;
    const offset = read(at);
    if (known.size >= 1_000) known.clear();
    known.set(index, offset);
    return offset;
  };
}

function zoneFormat(name: string): Intl.DateTimeFormat | undefined {
  // Offsets such as +02:00 are taken as zones too, and are not names.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    return undefined;
  }
}

function readOffset(format: Intl.DateTimeFormat, at: number): number {
  const shown = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(shown);
  if (match === null) return 0;
  const ahead = Number(match[2]) * hour + Number(match[3]) * minute + Number(match[4] ?? 0) * 1000;
  return match[1] === '-' ? -ahead : ahead;
}

/**
 * True if a window is open. Every moment at which the zone's clocks show a minute of the schedule opens one:
 * clocks set back show it twice, clocks set forward may skip it.
 */
export function inCronSpan(cron: Cron, duration: number, offset: Offset, now: number): boolean {
  let at = now;
  while (at > now - duration) {
    const ahead = offset(at);
    const local = at + ahead;
    const clock = new Date(local);
    const intoMinute = local - Math.floor(local / minute) * minute;
    const minutes = clock.getUTCMinutes();
    let back: number;
    if (!fallsOn(cron, clock)) back = (clock.getUTCHours() * 60 + minutes) * minute + intoMinute + 1;
    else if (!cron.hours.has(clock.getUTCHours())) back = minutes * minute + intoMinute + 1;
    else if (!cron.minutes.has(minutes)) back = intoMinute + 1;
    else return at - intoMinute > now - duration;
    // Over a change of the clocks a leap may miss a minute that they showed; within a quarter of an hour there is none.
    at -= offset(at - back) === ahead ? back : Math.min(back, (at % quarter) + 1);
  }
  return false;
}

function fallsOn({ days, months, weekdays, eitherDay }: Cron, clock: Date): boolean {
  if (!months.has(clock.getUTCMonth() + 1)) return false;
  const date = days.has(clock.getUTCDate());
  const weekday = weekdays.has(clock.getUTCDay());
  return eitherDay ? date || weekday : date && weekday;
}
