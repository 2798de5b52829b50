// Gives each client one of two variants and keeps it there by a cookie; routes match the header.
import { defineFilter, number, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({
    name: string(),
    percentB: number().where((value) => value >= 0 && value <= 100, 'must be between 0 and 100'),
    header: string().optional('x-variant'),
  }),
  state: () => ({ chosen: '' }),
  create({ name, percentB, header }, context) {
    const counters = { a: context.counter('a'), b: context.counter('b') };
    return {
      onRequestHeaders(headers, stream) {
        const cookies = headers.getAll('cookie').flatMap((line) => line.split(/;\s*/));
        const known = ['a', 'b'].find((each) => cookies.includes(`${name}=${each}`));
        const variant = known ?? (Math.random() * 100 < percentB ? 'b' : 'a');
        if (known === undefined) stream.state.chosen = variant;
        counters[variant === 'b' ? 'b' : 'a'].add();
        headers.set(header, variant);
        // Routes that match the header are chosen again.
        stream.clearRoute();
      },
      onResponseHeaders(headers, { state: { chosen } }) {
        if (chosen !== '') headers.add('set-cookie', `${name}=${chosen}; Path=/; HttpOnly`);
      },
    };
  },
});
