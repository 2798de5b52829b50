/**
 * What comes and goes with every request or connection, in its order. Not a Set or a Map: where one
 * of those grows or is tidied, V8 links its old table to the new one, so that an old table which
 * the collector has aged keeps all later ones, and what each had in it, until the next full
 * collection. Such tables kept nearly every stream and every connection that way.
 */

/** Who can be a member of one group at a time. The group alone sets these. */
export interface Member<Self> {
  next: Self | undefined;
  previous: Self | undefined;
}

export class Members<Each extends Member<Each>> {
  size = 0;
  /** The oldest; the others follow by `next`. */
  first: Each | undefined = undefined;
  #last: Each | undefined = undefined;

  /** The newest. */
  get last(): Each | undefined {
    return this.#last;
  }

  has(member: Each): boolean {
    return member.previous !== undefined || member === this.first;
  }

  add(member: Each): void {
    const last = this.#last;
    this.size++;
    member.previous = last;
    this.#last = member;
    if (last === undefined) this.first = member;
    else last.next = member;
  }

  /** False for one that is no member. What has left leads to no other member. */
  remove(member: Each): boolean {
    if (!this.has(member)) return false;
    const { next, previous } = member;
    this.size--;
    if (previous === undefined) this.first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    member.next = undefined;
    member.previous = undefined;
    return true;
  }

  /** As they are now: they may come and go meanwhile. */
  all(): Each[] {
    const members: Each[] = [];
    for (let each = this.first; each !== undefined; each = each.next) members.push(each);
    return members;
  }
}
