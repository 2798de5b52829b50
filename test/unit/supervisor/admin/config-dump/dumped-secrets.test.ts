/** `/config_dump` against recorded pages of Envoy, its parameters, and redaction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPackages, readPackage } from '../../../../../shared/api/descriptor.ts';
import type { FieldDescriptor } from '../../../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../../../shared/api/well-known.ts';
import { createMessageTypes } from '../../../../../supervisor/admin/message-types.ts';
import { ask } from '../ask.ts';
import { fakeContext } from '../fake-context.ts';
import { SECRET, resource } from './dumped-resource.ts';

/** A value for every field that the API marks as sensitive, each in a message of its own. */
function* sensitiveMessages(): Generator<JsonObject> {
  for (const name of listPackages()) {
    for (const [message, { fields }] of Object.entries(readPackage(name)?.messages ?? {})) {
      for (const field of fields) {
        if (field.sensitive !== true) continue;
        const value = secretOf(field);
        const given = field.mapKey === undefined ? value : { key: value };
        yield {
          '@type': `type.googleapis.com/${name}.${message}`,
          [field.name]: field.repeated === true ? [given] : given,
        };
      }
    }
  }
}

/** The secret in the first place that a message has for it. */
function secretOf({ kind, type = '' }: FieldDescriptor): JsonValue {
  if (kind === 'bytes') return Buffer.from(SECRET).toString('base64');
  if (kind !== 'message') return SECRET;
  if (type.startsWith('google.protobuf.')) return { anything: SECRET };
  const fields = TYPES.find(type)?.fields ?? [];
  const text = fields.find((field) => field.kind === 'string' || field.kind === 'bytes');
  const inner = text ?? fields.find((field) => field.kind === 'message');
  assert.ok(inner !== undefined, type);
  return { [inner.name]: secretOf(inner) };
}

const TYPES = createMessageTypes();

test('nothing that the API marks as sensitive leaves, wherever it stands', async () => {
  const typed = [...sensitiveMessages()];
  assert.ok(typed.length >= 10, String(typed.length));
  const messages = [...typed, ...typed.flatMap(asTypedStructs)];
  const filters = messages.map((typed_config) => ({ name: 'f', typed_config }));
  const listener = resource({
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'all',
    filter_chains: [{ filters }],
  });
  const { config } = fakeContext().context;
  const { context } = fakeContext({
    config: { ...config, listeners: () => ({ ...config.listeners(), static: [listener] }) },
  });
  const { body } = await ask(context, '/config_dump?resource=static_listeners');
  const shown = (JSON.parse(body) as Dumped).configs[0]?.listener.filter_chains[0]?.filters ?? [];
  const encoded = Buffer.from(SECRET).toString('base64');
  for (const [index, { typed_config: config }] of shown.entries()) {
    const text = JSON.stringify(config);
    const what = JSON.stringify(messages[index]);
    assert.ok(!text.includes(SECRET) && !text.includes(encoded), `${what} leaves as ${text}`);
  }
  assert.equal(shown.length, messages.length);
});

/** The same as TypedStructs of both kinds, with the names of fields as JSON has them. */
function asTypedStructs({ '@type': type_url = '', ...fields }: JsonObject): JsonObject[] {
  return ['xds.type.v3.TypedStruct', 'udpa.type.v1.TypedStruct'].map((kind) => ({
    '@type': `type.googleapis.com/${kind}`,
    type_url,
    value: inLowerCamelCase(fields),
  }));
}

function inLowerCamelCase(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(inLowerCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      inLowerCamelCase(inner as JsonValue),
    ]),
  );
}

test('a TypedStruct is shown as the type that it names, with only its secrets hidden', async () => {
  const chain = (value: JsonObject): JsonObject => ({
    name: 'tls',
    typed_config: {
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      type_url:
        'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      value,
    },
  });
  const listener = resource({
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'l',
    filter_chains: [
      {
        transport_socket: chain({
          commonTlsContext: {
            tlsCertificates: [
              {
                certificateChain: { inlineString: 'public' },
                privateKey: { inlineString: SECRET },
              },
            ],
          },
        }),
      },
    ],
  });
  const { config } = fakeContext().context;
  const { context } = fakeContext({
    config: { ...config, listeners: () => ({ ...config.listeners(), static: [listener] }) },
  });
  const { body } = await ask(context, '/config_dump?resource=static_listeners');
  const [shown] = (
    JSON.parse(body) as {
      readonly configs: readonly {
        readonly listener: {
          readonly filter_chains: readonly { readonly transport_socket: JsonObject }[];
        };
      }[];
    }
  ).configs;
  assert.deepEqual(
    shown?.listener.filter_chains[0]?.transport_socket,
    chain({
      common_tls_context: {
        tls_certificates: [
          {
            certificate_chain: { inline_string: 'public' },
            private_key: { inline_string: '[redacted]' },
          },
        ],
      },
    }),
  );
});

interface Dumped {
  readonly configs: readonly {
    readonly listener: {
      readonly filter_chains: readonly {
        readonly filters: readonly { readonly typed_config: object }[];
      }[];
    };
  }[];
}

test('no secret leaves through any parameter: inline, bytes, in typed configuration, in maps', async () => {
  const tls = {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
    common_tls_context: {
      tls_certificates: [
        {
          certificate_chain: { filename: '/etc/chain.pem' },
          private_key: { filename: `/etc/${SECRET}.pem` },
          password: { inline_bytes: Buffer.from(SECRET).toString('base64') },
        },
      ],
    },
    session_ticket_keys: { keys: [{ inline_string: SECRET }] },
  };
  const listener = resource({
    '@type': 'type.googleapis.com/envoy.config.listener.v3.Listener',
    name: 'secure',
    filter_chains: [{ transport_socket: { name: 'tls', typed_config: tls } }],
  });
  const { config } = fakeContext().context;
  const { context } = fakeContext({
    config: {
      ...config,
      bootstrap: () => ({
        message: { static_resources: { listeners: [listener.message] } },
        lastUpdatedMs: 0,
      }),
      listeners: () => ({ ...config.listeners(), static: [listener] }),
    },
  });
  const encoded = Buffer.from(SECRET).toString('base64');
  for (const query of [
    '',
    '?mask=bootstrap',
    '?mask=static_listeners',
    '?resource=static_listeners',
    '?resource=static_listeners&mask=listener.filter_chains',
    '?name_regex=secure',
  ]) {
    const { body } = await ask(context, `/config_dump${query}`);
    assert.match(body, /chain\.pem/);
    assert.ok(!body.includes(SECRET) && !body.includes(encoded), query);
    assert.match(body, /"filename": "\[redacted\]"/);
    assert.match(body, /"inline_bytes": "W3JlZGFjdGVkXQ=="/);
  }
});
