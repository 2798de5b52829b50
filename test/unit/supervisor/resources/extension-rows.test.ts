/** A registry and a table have a row for each kind: one that is left out does not compile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import { extension, ExtensionRegistry } from '../../../../supervisor/resources/extensions.ts';

type Shape =
  | { readonly kind: 'circle'; readonly radius: number }
  | { readonly kind: 'square'; readonly side: number };

const circle = extension('circle', 'shapes.Circle', () => ({ kind: 'circle' as const, radius: 1 }));
const square = extension('square', 'shapes.Square', () => ({ kind: 'square' as const, side: 2 }));
const oldSquare = { ...square, type: 'shapes.v2.Square' };

describe('rows of extensions', () => {
  it('lists what there is, several rows of one kind too', () => {
    const registry = new ExtensionRegistry<Shape>('shapes', 'shape', {
      circle,
      square: [square, oldSquare],
    });
    assert.deepEqual(
      registry.entries().map(({ type }) => type),
      ['shapes.Circle', 'shapes.Square', 'shapes.v2.Square'],
    );
  });

  it('does not compile without a kind, nor with the row of another', () => {
    // @ts-expect-error `square` has no row
    void new ExtensionRegistry<Shape>('shapes', 'shape', { circle });
    // @ts-expect-error a square's row stands where a circle's belongs
    void new ExtensionRegistry<Shape>('shapes', 'shape', { circle: square, square });
    // @ts-expect-error a list would not say which kinds there are
    void new ExtensionRegistry<Shape>('shapes', 'shape', [circle, square]);
    // @ts-expect-error `square` has no row
    void new KindTable<Shape, [], number>({ circle: ({ radius }) => 3 * radius * radius });
  });

  it('makes a value with the row of its kind', () => {
    const area = new KindTable<Shape, [], number>({
      circle: ({ radius }) => 3 * radius * radius,
      square: ({ side }) => side * side,
    });
    assert.equal(area.make({ kind: 'square', side: 3 }), 9);
  });
});
