/** A simple command of a shell's command line: a program with its arguments. */
export interface SimpleCommand {
  /** Without variables and redirections. An argument has no quotes. */
  words: string[];
  /** The operator after it. A line end is `;`. */
  next: Operator | '';
  /** Set after `!`. */
  isNegated?: true;
  /** Set inside `$(…)`, backquotes and the text for another shell, whose exit code is not that of the command line. */
  isInner?: true;
}

export type Operator = '&&' | '||' | '|' | '&' | ';';

/** The most nested substitutions. Deeper ones are skipped. */
const DEEPEST = 10;

/** The simple commands of a command line, in order. Any text is accepted, such as one without its end. */
export function readShell(text: string): SimpleCommand[] {
  const shell = new Shell(text, 0, 0);
  shell.read();
  return shell.commands;
}

const OPERATOR = /&&|\|\||\|&?|;;?&?|&(?!>)|\n/y;
const REDIRECTION = /(?:\d*|&)(?:<<<|<<-?|<>|<&|>>|>\||>&|<|>)[ \t]*/y;
const PLAIN = /[^ \t\r\n\\'"`$;&|<>()#]+/y;
const BLANK = /[ \t\r]+|\\\r?\n/y;
/** Ends a word. For a shell, other white space is part of a word. */
const AFTER_WORD = /[ \t\r\n;&|<>()]/;
const ASSIGNMENT = /^\w+\+?=/;
/** Words before a command that say when it runs, but not which program runs. */
const KEYWORDS: ReadonlySet<string> = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '{', 'time']);
const SHELLS = /^(?:\S*\/)?(?:ba|da|z|k|a)?sh$/;

class Shell {
  readonly commands: SimpleCommand[] = [];
  readonly #text: string;
  readonly #depth: number;
  /** The index of the next character. */
  at: number;
  #command: SimpleCommand = { words: [], next: '' };
  /** The words that end here-documents which begin after this line. */
  #documents: string[] = [];

  constructor(text: string, at: number, depth: number) {
    this.#text = text;
    this.at = at;
    this.#depth = depth;
  }

  /** Reads to the end of the text, or past the `)` that ends a substitution. */
  read(isSubstitution = false): void {
    const text = this.#text;
    let open = 0;
    while (this.at < text.length) {
      if (this.#take(BLANK) !== undefined) continue;
      const operator = this.#take(OPERATOR);
      const character = text[this.at];
      if (operator !== undefined) this.#end(operator);
      else if (character === '#') this.at = endOf(text, '\n', this.at);
      else if (character === '(' || character === ')') {
        this.#close('');
        this.at++;
        open += character === '(' ? 1 : -1;
        if (open < 0 && isSubstitution) break;
        open = Math.max(0, open);
      } else if (!this.#readRedirection()) this.#addWord(this.#readWord());
    }
    this.#close('');
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  #end(operator: string): void {
    const next = operator === '\n' || operator.startsWith(';') ? ';' : operator === '|&' ? '|' : operator;
    this.#close(next as Operator);
    if (operator === '\n') for (const end of this.#documents.splice(0)) this.#skipDocument(end);
  }

  #close(next: Operator | ''): void {
    const { words } = this.#command;
    const last = this.commands.at(-1);
    if (words.length > 0) {
      this.commands.push({ ...this.#command, next });
      this.#readTextForShell(words);
    } else if (last && !last.isInner && next !== '' && last.next === '') last.next = next;
    this.#command = { words: [], next: '' };
  }

  /** The text of `sh -c` is a command line too, also after a program that runs the shell. */
  #readTextForShell(words: readonly string[]): void {
    const shell = words.findIndex((word) => SHELLS.test(word));
    const at = shell < 0 ? -1 : words.findIndex((word, index) => index > shell && /^-\w*c$/.test(word));
    const inner = at < 0 ? undefined : words[at + 1];
    if (inner !== undefined) this.#addInner(inner, 0);
  }

  #addWord(word: string): void {
    const { words } = this.#command;
    if (words.length === 0) {
      if (KEYWORDS.has(word) || ASSIGNMENT.test(word)) return;
      if (word === '!') {
        this.#command.isNegated = true;
        return;
      }
    }
    words.push(word);
  }

  /** @returns whether there is one here; its target is skipped */
  #readRedirection(): boolean {
    const found = this.#take(REDIRECTION);
    if (found === undefined) return false;
    // The commands of `<(…)` run like those of `$(…)`.
    if (this.#text[this.at] === '(') {
      this.#readSubstitution();
      return true;
    }
    const target = this.#readWord();
    if (/<<-?[ \t]*$/.test(found) && target !== '') this.#documents.push(target);
    return true;
  }

  #skipDocument(end: string): void {
    while (this.at < this.#text.length) {
      const close = endOf(this.#text, '\n', this.at);
      const line = this.#text.slice(this.at, close);
      this.at = close + 1;
      if (line.trim() === end) return;
    }
  }

  #readWord(): string {
    const text = this.#text;
    let word = '';
    while (this.at < text.length) {
      const plain = this.#take(PLAIN);
      if (plain !== undefined) {
        word += plain;
        continue;
      }
      const character = text[this.at] as string;
      if (AFTER_WORD.test(character)) break;
      if (character === "'") word += this.#readUntil("'");
      else if (character === '"') word += this.#readQuoted();
      else if (character === '`') this.#readBackquotes();
      else if (character === '$' && text[this.at + 1] === '(') {
        this.at++;
        this.#readSubstitution();
      } else {
        // A backslash makes the next character part of the word. `#` and `$` inside a word are characters.
        const isEscape = character === '\\';
        word += isEscape ? (text[this.at + 1] ?? '').replace('\n', '') : character;
        this.at += isEscape ? 2 : 1;
      }
    }
    return word;
  }

  #readUntil(quote: string): string {
    const close = endOf(this.#text, quote, this.at + 1);
    const inside = this.#text.slice(this.at + 1, close);
    this.at = close + 1;
    return inside;
  }

  #readQuoted(): string {
    const text = this.#text;
    let inside = '';
    this.at++;
    while (this.at < text.length && text[this.at] !== '"') {
      const character = text[this.at] as string;
      if (character === '`') this.#readBackquotes();
      else if (character === '$' && text[this.at + 1] === '(') {
        this.at++;
        this.#readSubstitution();
      } else {
        const isEscape = character === '\\' && /["\\$`\n]/.test(text[this.at + 1] ?? '');
        inside += isEscape ? text[this.at + 1] : character;
        this.at += isEscape ? 2 : 1;
      }
    }
    this.at++;
    return inside;
  }

  #readBackquotes(): void {
    this.#addInner(this.#readUntil('`'), 0);
  }

  /** Reads on from the `(`. */
  #readSubstitution(): void {
    this.at = this.#addInner(this.#text, this.at + 1);
  }

  /** @returns the index after the substitution */
  #addInner(text: string, from: number): number {
    if (this.#depth >= DEEPEST) return text.length;
    const inner = new Shell(text, from, this.#depth + 1);
    inner.read(text === this.#text);
    // `$((…))` calculates a number.
    const isNumber = text[from] === '(' && text === this.#text;
    if (!isNumber) for (const command of inner.commands) this.commands.push({ ...command, isInner: true });
    return inner.at;
  }
}

function endOf(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found;
}
