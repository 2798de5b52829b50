// Exchanges the caller's token for one of an internal issuer, and keeps it until it expires.
import { defineFilter, number, object, string } from 'sluice/filter';

interface Kept {
  readonly token: string;
  readonly untilMs: number;
}

export default defineFilter({
  schema: object({
    cluster: string(),
    path: string().optional('/token'),
    tokensMax: number().optional(10_000),
  }),
  create({ cluster, path, tokensMax }, context) {
    const hits = context.counter('hits');
    const misses = context.counter('misses');
    // The oldest come first.
    const kept = new Map<string, Kept>();

    const exchange = async (subject: string): Promise<Kept | undefined> => {
      const answer = await context.fetch(cluster, {
        method: 'POST',
        path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          subject_token: subject,
        }).toString(),
        timeoutMs: 2_000,
        retries: 1,
      });
      if (answer.status !== 200) return undefined;
      const { access_token: token, expires_in: seconds } = answer.json() as {
        readonly access_token: string;
        readonly expires_in: number;
      };
      return { token, untilMs: Date.now() + seconds * 1000 };
    };

    const keep = (subject: string, made: Kept): void => {
      for (const oldest of kept.keys()) {
        if (kept.size < tokensMax) break;
        kept.delete(oldest);
      }
      kept.set(subject, made);
    };

    return {
      async onRequestHeaders(headers) {
        const [, subject] = /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '') ?? [];
        if (subject === undefined)
          return { status: 401, headers: { 'www-authenticate': 'Bearer' } };
        let found = kept.get(subject);
        if (found !== undefined && found.untilMs > Date.now()) hits.add();
        else {
          misses.add();
          found = await exchange(subject);
          if (found === undefined) return { status: 403, body: 'the token was refused\n' };
          keep(subject, found);
        }
        headers.set('authorization', `Bearer ${found.token}`);
        return undefined;
      },
    };
  },
});
