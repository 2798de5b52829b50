// Marks requests for the canary, by a header or a share of users, and counts how both do.
import { createHash } from 'node:crypto';
import { defineFilter, number, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({
    header: string().optional('x-canary'),
    userHeader: string().optional('x-user'),
    percent: number().optional(0),
  }),
  state: () => ({ isCanary: false, beganMs: 0 }),
  create({ header, userHeader, percent }, context) {
    const statsOf = (name: string) => ({
      requests: context.counter(`${name}.requests`),
      errors: context.counter(`${name}.errors`),
      durations: context.histogram(`${name}.duration_ms`),
    });
    const [canary, stable] = [statsOf('canary'), statsOf('stable')];
    /** The same user is always in it, or never. */
    const isChosen = (user: string | undefined): boolean => {
      if (user === undefined) return false;
      return (createHash('sha256').update(user).digest().readUInt32BE() / 2 ** 32) * 100 < percent;
    };
    return {
      onRequestHeaders(headers, stream) {
        const asked = headers.get(header);
        const isCanary =
          asked === undefined ? isChosen(headers.get(userHeader)) : asked === 'always';
        stream.state = { isCanary, beganMs: performance.now() };
        headers.set(header, isCanary ? 'always' : 'never');
        stream.clearRoute();
      },
      onEnd({ state: { isCanary, beganMs } }, { status }) {
        const { requests, errors, durations } = isCanary ? canary : stable;
        requests.add();
        if (status >= 500 || status === 0) errors.add();
        durations.record(performance.now() - beganMs);
      },
    };
  },
});
