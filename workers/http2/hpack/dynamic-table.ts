/**
 * The dynamic table of HPACK (RFC 7541 section 2.3.2): the fields of one direction that were
 * indexed last, bounded in bytes. A ring, so that adding and dropping cost the same whatever its
 * length.
 */

/** What an entry counts beside its name and value (RFC 7541 section 4.1). */
export const ENTRY_OVERHEAD = 32;

export class DynamicTable {
  #names: string[] = [];
  #values: string[] = [];
  /** Position of the oldest entry. */
  #first = 0;
  #length = 0;
  #size = 0;
  #maxSize: number;
  /** Entries that were ever added; the newest has this number. */
  #added = 0;
  readonly #onDropped: ((name: string, value: string, number: number) => void) | undefined;

  /** `onDropped` hears of each entry that leaves, with the number that `add` gave it. */
  constructor(maxSize: number, onDropped?: (name: string, value: string, number: number) => void) {
    this.#maxSize = maxSize;
    this.#onDropped = onDropped;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes, as RFC 7541 counts them. */
  get size(): number {
    return this.#size;
  }

  get maxSize(): number {
    return this.#maxSize;
  }

  /** `index` counts from 0, the newest entry. */
  name(index: number): string {
    return this.#names[this.#position(index)] ?? '';
  }

  value(index: number): string {
    return this.#values[this.#position(index)] ?? '';
  }

  /** Whether the entry that `add` gave this number is still there. */
  has(number: number): boolean {
    return this.#added - number < this.#length;
  }

  /** The index of the entry that `add` gave this number. */
  indexOf(number: number): number {
    return this.#added - number;
  }

  /** Adds an entry in front, dropping old ones; one that is too large empties the table. */
  add(name: string, value: string): number | undefined {
    const size = name.length + value.length + ENTRY_OVERHEAD;
    while (this.#length > 0 && this.#size + size > this.#maxSize) this.#drop();
    if (size > this.#maxSize) return undefined;
    if (this.#length === this.#names.length) this.#grow();
    const at = (this.#first + this.#length) % this.#names.length;
    this.#names[at] = name;
    this.#values[at] = value;
    this.#length++;
    this.#size += size;
    return ++this.#added;
  }

  resize(maxSize: number): void {
    this.#maxSize = maxSize;
    while (this.#size > maxSize) this.#drop();
  }

  #position(index: number): number {
    return (this.#first + this.#length - 1 - index) % this.#names.length;
  }

  #drop(): void {
    const name = this.#names[this.#first] ?? '';
    const value = this.#values[this.#first] ?? '';
    const number = this.#added - this.#length + 1;
    this.#names[this.#first] = '';
    this.#values[this.#first] = '';
    this.#first = (this.#first + 1) % this.#names.length;
    this.#length--;
    this.#size -= name.length + value.length + ENTRY_OVERHEAD;
    this.#onDropped?.(name, value, number);
  }

  #grow(): void {
    const capacity = Math.max(16, this.#names.length * 2);
    const names: string[] = [];
    const values: string[] = [];
    for (let index = this.#length - 1; index >= 0; index--) {
      names.push(this.name(index));
      values.push(this.value(index));
    }
    while (names.length < capacity) {
      names.push('');
      values.push('');
    }
    this.#names = names;
    this.#values = values;
    this.#first = 0;
  }
}
