import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HpackDecoder, HpackError } from '../../../../workers/http2/hpack/decoder.ts';
import { DynamicTable, ENTRY_OVERHEAD } from '../../../../workers/http2/hpack/dynamic-table.ts';
import { HpackEncoder } from '../../../../workers/http2/hpack/encoder.ts';

const TEXT_BYTES = 65_536;

type Field = readonly [name: string, value: string];

function decodeAll(decoder: HpackDecoder, block: Buffer): Field[] {
  const fields: Field[] = [];
  const onField = (name: string, value: string): void => void fields.push([name, value]);
  decoder.decode(block, 0, block.length, { onField });
  return fields;
}

function encodeAll(encoder: HpackEncoder, fields: readonly Field[]): Buffer {
  encoder.begin();
  for (const [name, value] of fields) encoder.field(name, value);
  return Buffer.from(encoder.finish(), 'latin1');
}

const sizeOf = (values: readonly string[]): number =>
  values.reduce((sum, value) => sum + value.length + ENTRY_OVERHEAD, 0);

/** The newest values that fit; one that does not fit drops all that are older. */
function whatFits(values: readonly string[], maxSize: number): string[] {
  const end = values.findIndex((_, at) => sizeOf(values.slice(0, at + 1)) > maxSize);
  return values.slice(0, end === -1 ? values.length : end);
}

const REQUESTS: readonly (readonly Field[])[] = [
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
    ['cache-control', 'no-cache'],
  ],
  [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/index.html'],
    [':authority', 'www.example.com'],
    ['custom-key', 'custom-value'],
  ],
];

const RESPONSES: readonly (readonly Field[])[] = [
  [
    [':status', '302'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '307'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
    ['location', 'https://www.example.com'],
  ],
  [
    [':status', '200'],
    ['cache-control', 'private'],
    ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
    ['location', 'https://www.example.com'],
    ['content-encoding', 'gzip'],
    ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'],
  ],
];

describe('HPACK', () => {
  // RFC 7541 appendix C: without (C.3, C.5) and with (C.4, C.6) Huffman codes; tables of 4096 and
  // 256.
  for (const [title, tableSize, blocks, expected] of [
    [
      'requests in plain texts',
      4096,
      [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
      REQUESTS,
    ],
    [
      'requests in Huffman codes',
      4096,
      [
        '828684418cf1e3c2e5f23a6ba0ab90f4ff',
        '828684be5886a8eb10649cbf',
        '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      ],
      REQUESTS,
    ],
    [
      'responses in plain texts, with entries that leave the table',
      256,
      [
        '4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e6578616d706c652e636f6d',
        '4803333037c1c0bf',
        '88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31',
      ],
      RESPONSES,
    ],
    [
      'responses in Huffman codes, with entries that leave the table',
      256,
      [
        '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
        '4883640effc1c0bf',
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
      ],
      RESPONSES,
    ],
  ] as const) {
    it(`decodes the RFC's ${title}`, () => {
      const decoder = new HpackDecoder(tableSize, TEXT_BYTES);
      blocks.forEach((block, index) => {
        assert.deepEqual(decodeAll(decoder, Buffer.from(block, 'hex')), expected[index]);
      });
    });
  }

  it('decodes what it encoded, message after message, whatever the limits of the table', () => {
    const name = fc.oneof(
      fc.constantFrom(':path', ':method', 'accept', 'cookie', 'x-a', 'x-b', 'authorization'),
      fc.stringMatching(/^[a-z][a-z-]{0,20}$/),
    );
    const value = fc.oneof(
      fc.constantFrom('', 'GET', '/', 'gzip, deflate', 'a'.repeat(600)),
      fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    );
    const message = fc.record({
      fields: fc.array(fc.tuple(name, value), { maxLength: 20 }),
      limit: fc.option(fc.integer({ min: 0, max: 5000 })),
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), fc.boolean(), (messages, usesHuffman) => {
        const encoder = new HpackEncoder(usesHuffman);
        const decoder = new HpackDecoder(5000, TEXT_BYTES);
        for (const { fields, limit } of messages) {
          if (limit !== null) encoder.limitTable(limit);
          assert.deepEqual(decodeAll(decoder, encodeAll(encoder, fields)), fields);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the table to its bytes while a peer adds, empties and resizes it without end', () => {
    const entry = fc.record({ add: fc.integer({ min: 0, max: 300 }) });
    const limit = fc.record({ limit: fc.constantFrom(0, 31, 32, 33, 200, 1000, 4096) });
    fc.assert(
      fc.property(fc.array(fc.oneof(entry, entry, limit), { maxLength: 200 }), (steps) => {
        let dropped = 0;
        const table = new DynamicTable(4096, () => dropped++);
        // The newest entry first, as the RFC describes the table.
        let expected: string[] = [];
        let added = 0;
        steps.forEach((step, index) => {
          if ('limit' in step) {
            table.resize(step.limit);
          } else {
            const value = String(index).padEnd(step.add, '.');
            if (table.add('', value) !== undefined) added++;
            expected = [value, ...expected];
          }
          expected = whatFits(expected, table.maxSize);
          assert.deepEqual(
            expected.map((_, at) => table.value(at)),
            expected,
          );
          assert.equal(table.length, expected.length);
          assert.equal(table.size, sizeOf(expected));
          assert.equal(dropped, added - expected.length);
        });
      }),
      { numRuns: 300 },
    );
  });

  it('writes a message that came before in one byte for each field that may be indexed', () => {
    const encoder = new HpackEncoder();
    const fields: Field[] = [
      [':method', 'GET'],
      [':authority', 'example.com'],
      ['user-agent', 'a client'],
    ];
    encodeAll(encoder, fields);
    assert.equal(encodeAll(encoder, fields).length, 3);
  });

  it('writes texts in the Huffman code where it is told to and that is shorter', () => {
    const encoder = new HpackEncoder(true);
    // RFC 7541, appendix C.4.1, of a field that is not indexed; and a text that the code makes longer.
    const block = encodeAll(encoder, [[':path', 'www.example.com']]);
    assert.equal(block.toString('hex'), '048cf1e3c2e5f23a6ba0ab90f4ff');
    assert.equal(encodeAll(encoder, [[':path', '\\\\']]).toString('hex'), '04025c5c');
  });

  it('takes names and values up to a limit, as they are on the wire', () => {
    const decoder = new HpackDecoder(4096, 100);
    const most: Field[] = [['n'.repeat(100), 'v'.repeat(100)]];
    assert.deepEqual(decodeAll(decoder, encodeAll(new HpackEncoder(), most)), most);
    for (const [name, value] of [
      ['n'.repeat(101), ''],
      ['', 'v'.repeat(101)],
    ] as const) {
      const block = encodeAll(new HpackEncoder(), [[name, value]]);
      assert.throws(() => decodeAll(new HpackDecoder(4096, 100), block), HpackError);
    }
  });

  it('never indexes credentials', () => {
    const block = encodeAll(new HpackEncoder(), [['authorization', 'Bearer x']]);
    assert.equal((block[0] ?? 0) & 0xf0, 0x10);
  });

  for (const [title, hex] of [
    ['index 0', '80'],
    ['an index beyond the table', 'be'],
    ['a table size above the limit', '3fe21f'],
    ['a table size behind a field', '8220'],
    ['a number without an end', '7fffffffffffffffff'],
    ['a text beyond the block', '400a61'],
    ['an end-of-string code', '4084ffffffff0161'],
    ['eight bits of padding', '4082187f' + 'ff0161'],
    ['padding of zeroes', '408118' + '0161'],
    ['a block that ends behind a name', '400161'],
  ] as const) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => decodeAll(new HpackDecoder(4096, TEXT_BYTES), Buffer.from(hex, 'hex')),
        HpackError,
      );
    });
  }

  it('ends in a result or an HpackError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeAll(new HpackDecoder(4096, TEXT_BYTES), Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof HpackError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
