/** Spans of time as people read them. */

/** `1 d 02:03:04`. */
export function daysAndClock(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const clock = [seconds / 3600, seconds / 60, seconds]
    .map((unit, index) => Math.floor(unit) % (index === 0 ? 24 : 60))
    .map((unit) => String(unit).padStart(2, '0'))
    .join(':');
  return days > 0 ? `${days} d ${clock}` : clock;
}

/** In the largest unit that fits. */
export function daysOrClock(seconds: number): string {
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}
