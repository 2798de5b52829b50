// Turns a cookie into a header that upstreams read, and refuses values that are no flag.
import { array, defineFilter, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({
    cookie: string().optional('flags'),
    header: string().optional('x-flags'),
    known: array(string()),
  }),
  create({ cookie, header, known }, context) {
    const unknown = context.counter('unknown');
    const start = `${cookie}=`;
    return {
      onRequestHeaders(headers) {
        // What a client says of itself in the header is not believed.
        headers.delete(header);
        const cookies = headers.getAll('cookie').flatMap((line) => line.split(';'));
        const found = cookies.map((each) => each.trim()).find((each) => each.startsWith(start));
        const wanted = found?.slice(start.length).split('.') ?? [];
        const flags = wanted.filter((flag) => known.includes(flag));
        if (flags.length < wanted.length) unknown.add(wanted.length - flags.length);
        if (flags.length > 0) headers.set(header, flags.join(','));
      },
    };
  },
});
