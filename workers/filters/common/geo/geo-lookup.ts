/** Looks up what is known of an address, in the databases that have what is asked for. */
import type { GeoPath, GeoValue } from '../../../../shared/geo/maxmind-database.ts';
import {
  GEO_HITS,
  GEO_LOOKUPS,
  GEO_MISSES,
  type GeoDatabaseKind,
  type GeoFact,
  type GeoProvider,
  GEOIP,
} from '../../../../shared/resources/filters/common/geo.ts';
import type { StatTemplate } from '../../../../shared/stats/template.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import { type GeoContext, type HeldDatabase, holdDatabase } from './geo-databases.ts';

const APPLE_RELAY = 'iCloud Private Relay';

const ANON: Readonly<Partial<Record<GeoFact, GeoPath>>> = {
  anon: ['is_anonymous'],
  anon_vpn: ['is_anonymous_vpn'],
  anon_hosting: ['is_hosting_provider'],
  anon_tor: ['is_tor_exit_node'],
  anon_proxy: ['is_public_proxy'],
};
const COUNTRY: GeoPath = ['country', 'iso_code'];

/** What each kind of database is asked for. */
const PATHS: Readonly<Record<GeoDatabaseKind, Readonly<Partial<Record<GeoFact, GeoPath>>>>> = {
  city: {
    country: COUNTRY,
    city: ['city', 'names', 'en'],
    region: ['subdivisions', 0, 'iso_code'],
  },
  isp: {
    asn: ['autonomous_system_number'],
    asn_org: ['organization'],
    isp: ['isp'],
    apple_private_relay: ['isp'],
  },
  anon: ANON,
  asn: { asn: ['autonomous_system_number'], asn_org: ['autonomous_system_organization'] },
  country: { country: COUNTRY },
};

/** Facts that a database of its own answers where there is one. */
const OWN_DATABASES: Readonly<Partial<Record<GeoFact, GeoDatabaseKind>>> = {
  country: 'country',
  asn: 'asn',
  asn_org: 'asn',
};

interface Source {
  readonly database: HeldDatabase;
  readonly wanted: readonly { readonly fact: GeoFact; readonly name: string }[];
  readonly paths: readonly GeoPath[];
  readonly total: LateCounter;
  readonly hit: LateCounter;
  /** Only of databases that count what they do not have. */
  readonly missed: LateCounter | undefined;
}

export class GeoLookup {
  readonly #sources: readonly Source[];
  readonly #total: LateCounter;
  readonly #releases: (() => void)[] = [];

  /** Throws when a database cannot be read, with nothing left behind. */
  constructor({ databases, names }: GeoProvider, scope: string, context: GeoContext) {
    const late = (template: StatTemplate, index: number, prefix: string): LateCounter => {
      const counter = new LateCounter(context.stats, template, index, prefix);
      this.#releases.push(() => counter.release());
      return counter;
    };
    const kinds = new Set(databases.map(({ kind }) => kind));
    this.#total = late(GEOIP, GEOIP.index.total, `${scope}geoip.`);
    try {
      this.#sources = databases.map(({ kind, path }) => {
        const wanted = names.filter(({ fact }) => isAnswered(kind, fact, kinds));
        const prefix = `${scope}maxmind.${kind}_db.`;
        const database = holdDatabase(kind, path, context);
        this.#releases.push(() => database.release());
        return {
          database,
          wanted,
          paths: wanted.map(({ fact }) => PATHS[kind][fact] ?? []),
          total: late(GEO_LOOKUPS, GEO_LOOKUPS.index.total, prefix),
          hit: late(GEO_HITS, GEO_HITS.index.hit, prefix),
          missed:
            kind === 'city' ? late(GEO_MISSES, GEO_MISSES.index.lookup_error, prefix) : undefined,
        };
      });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Calls `take` with the name and the text of each fact that is known. */
  find(address: string, take: (name: string, text: string) => void): void {
    this.#total.count();
    for (const { database, wanted, paths, total, hit, missed } of this.#sources) {
      if (wanted.length === 0) continue;
      total.count();
      const values = database.current.find(address, paths);
      if (values === undefined) missed?.count();
      let isHit = false;
      wanted.forEach(({ fact, name }, index) => {
        const text = textOf(fact, values?.[index]);
        if (text === '') return;
        isHit = true;
        take(name, text);
      });
      if (isHit) hit.count();
    }
  }

  release(): void {
    for (const release of this.#releases) release();
  }
}

function isAnswered(
  kind: GeoDatabaseKind,
  fact: GeoFact,
  kinds: ReadonlySet<GeoDatabaseKind>,
): boolean {
  const own = OWN_DATABASES[fact];
  if (own !== undefined && own !== kind && kinds.has(own)) return false;
  return PATHS[kind][fact] !== undefined;
}

function textOf(fact: GeoFact, value: GeoValue | undefined): string {
  if (value === undefined) return '';
  if (fact === 'apple_private_relay') return String(value === APPLE_RELAY);
  return String(value);
}

/** A counter that is not there before it has counted. */
class LateCounter {
  readonly #stats: StatWriter;
  readonly #template: StatTemplate;
  readonly #index: number;
  readonly #prefix: string;
  #base: number | undefined;

  constructor(stats: StatWriter, template: StatTemplate, index: number, prefix: string) {
    this.#stats = stats;
    this.#template = template;
    this.#index = index;
    this.#prefix = prefix;
  }

  count(): void {
    this.#base ??= this.#stats.defineBlock(this.#template, this.#prefix);
    this.#stats.increment(this.#base + this.#index);
  }

  release(): void {
    if (this.#base !== undefined) this.#stats.releaseBlock(this.#base);
  }
}
