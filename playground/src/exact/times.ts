// Dates, times and durations as exact numbers of microseconds, and as text.

import { type Node, children } from "./program";
import { Rational } from "./rational";

const UNITS: [string, bigint][] = [
  ["day", 86_400_000_000n],
  ["hour", 3_600_000_000n],
  ["minute", 60_000_000n],
  ["second", 1_000_000n],
  ["microsecond", 1n],
];
const FIRST_DAY = -719162n,
  LAST_DAY = 2932896n; // the years 1 to 9999

export function isTemporal(node: Node): boolean {
  if (node.type === "variable") return ["date", "timestamp", "duration"].includes(node.kind);
  return children(node).some(isTemporal);
}

/** Days since 1970 of a date; null if there is no such day. */
function dayNumber(year: number, month: number, day: number): bigint | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same && year > 0 ? BigInt(date.getTime() / 86_400_000) : null;
}

const ISO =
  /^\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6})\d*)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?\s*$/;

/** The microseconds since 1970 of 2024-01-31 or 2024-01-31T12:30:00; null if the text is neither. */
export function parsePoint(text: string): Rational | null {
  const found = ISO.exec(text);
  if (!found) return null;
  const [, year, month, day, hours = "0", minutes = "0", seconds = "0", part = "", zone = "Z"] = found;
  const days = dayNumber(Number(year), Number(month), Number(day));
  if (days === null || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const [, sign = "+", zoneHours = "0", zoneMinutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes ?? 0)) * (sign === "-" ? -1 : 1);
  const total = (Number(hours) * 60 + Number(minutes) - offset) * 60 + Number(seconds);
  return Rational.of(days * UNITS[0][1] + BigInt(total) * 1_000_000n + BigInt(part.padEnd(6, "0")));
}

/** The microseconds of a duration such as 3 days, 12:30:00 or 1 day 00:00:01; null if the text is not one. */
export function parseDuration(text: string): Rational | null {
  const found =
    /^\s*(?:([+-]?\d+)\s*(days?|hours?|minutes?|seconds?|microseconds?),?\s*)?(?:(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?\s*$/.exec(
      text,
    );
  if (!found || (found[1] === undefined && found[4] === undefined)) return null;
  const unit = UNITS.find(([name]) => found[2]?.startsWith(name));
  let total = unit ? BigInt(found[1]) * unit[1] : 0n;
  if (found[4] !== undefined) {
    const clock = BigInt((Number(found[4]) * 60 + Number(found[5])) * 60 + Number(found[6])) * 1_000_000n;
    const size = clock + BigInt((found[7] ?? "").padEnd(6, "0"));
    total += found[3] ? -size : size;
  }
  return Rational.of(total);
}

/** 2024-01-31 or 2024-01-31T12:30:00; null for a number that is not a point in time that Python knows. */
export function pointText(value: Rational): string | null {
  if (!value.isInteger) return null;
  const day = UNITS[0][1];
  let inDay = value.above % day;
  if (inDay < 0n) inDay += day;
  const days = (value.above - inDay) / day;
  if (days < FIRST_DAY || days > LAST_DAY) return null;
  const date = new Date(Number(days) * 86_400_000).toISOString().slice(0, 10);
  if (!inDay) return date;
  const seconds = Number(inDay / 1_000_000n),
    rest = `${inDay % 1_000_000n}`.padStart(6, "0");
  const two = (number: number) => `${number}`.padStart(2, "0");
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(":");
  return `${date}T${clock}${rest === "000000" ? "" : `.${rest}`}`;
}

/** The largest unit of which a duration is a multiple, and how many. */
export function durationUnit(value: Rational): [string, Rational] {
  for (const [unit, size] of UNITS) {
    const times = value.times(Rational.of(1n, size));
    if (times.isInteger) return [unit, times];
  }
  return ["microsecond", value];
}

export function durationText(value: Rational): string | null {
  if (!value.isInteger) return null;
  const [unit, times] = durationUnit(value);
  return `${times} ${unit}${times.equals(Rational.ONE) ? "" : "s"}`;
}
