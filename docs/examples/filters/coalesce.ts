// Requests for the same path that come together become one: the others get a copy of its answer.
import { defineFilter, type FetchResponse, number, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({ cluster: string(), keptMs: number().optional(0) }),
  create({ cluster, keptMs }, context) {
    const joined = context.counter('joined');
    const underWay = new Map<string, Promise<FetchResponse>>();

    const ask = (authority: string, path: string): Promise<FetchResponse> => {
      const key = `${authority} ${path}`;
      const known = underWay.get(key);
      if (known !== undefined) {
        joined.add();
        return known;
      }
      const forget = (): void => void underWay.delete(key);
      const asked = context.fetch(cluster, { authority, path, timeoutMs: 5_000 });
      underWay.set(key, asked);
      asked.then(() => (keptMs > 0 ? setTimeout(forget, keptMs) : forget()), forget);
      return asked;
    };

    return {
      async onRequestHeaders(headers) {
        // What belongs to one client is nobody else's.
        const isShared = !headers.has('cookie') && !headers.has('authorization');
        if (headers.method !== 'GET' || !isShared) return undefined;
        const { status, headers: answered, body } = await ask(headers.authority, headers.path);
        const type = answered.get('content-type');
        return { status, body, ...(type !== undefined && { headers: { 'content-type': type } }) };
      },
    };
  },
});
