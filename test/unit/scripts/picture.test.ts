/** The picture of `npm run bench -- --picture`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawPicture } from '../../../scripts/bench/support/picture.ts';

const rows = [
  {
    name: 'keep-alive',
    bars: [
      { contender: 'sluice', ratio: 2 },
      { contender: 'envoy', ratio: 1 },
    ],
  },
  { name: 'a<b & "c"', bars: [{ contender: 'sluice', ratio: 0.5 }] },
];

const widths = (svg: string): number[] =>
  [...svg.matchAll(/x="190" y="\d+" width="([\d.]+)"/g)]
    .map((match) => Number(match[1]))
    .filter((width) => width !== 11);

test('a bar is as long as its ratio', () => {
  const [two, one, half] = widths(drawPicture('Speed', rows, 'a machine'));
  assert.ok(two !== undefined && one !== undefined && half !== undefined);
  assert.equal(two / one, 2);
  assert.equal(one / half, 2);
});

test('names are text, never markup', () => {
  const svg = drawPicture('Speed', rows, '<script>');
  assert.match(svg, /a&lt;b &amp; &quot;c&quot;/);
  assert.doesNotMatch(svg, /<script>/);
});

test('each contender stands in the legend once', () => {
  const svg = drawPicture('Speed', rows, '');
  assert.equal(svg.split('>sluice<').length - 1, 1);
});
