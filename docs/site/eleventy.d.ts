/** The part of Eleventy that is used; it has no types of its own. */
declare module '@11ty/eleventy' {
  interface Token {
    readonly content: string;
    /** Of a fence: the language and the file's name. */
    readonly info: string;
    attrGet(name: string): string | null;
    attrSet(name: string, value: string): void;
  }
  interface Markdown {
    readonly renderer: {
      readonly rules: Record<string, (tokens: readonly Token[], index: number) => string>;
    };
    readonly core: {
      readonly ruler: {
        push(
          name: string,
          rule: (state: {
            readonly tokens: readonly (Token & {
              readonly type: string;
              tag: string;
              readonly children: readonly (Token & { readonly type: string; hidden: boolean })[] | null;
            })[];
            readonly env: { readonly page: { readonly inputPath: string } };
          }) => void,
        ): void;
      };
    };
  }
  interface Config {
    readonly ignores: { add(pattern: string): void };
    setUseGitIgnore(use: boolean): void;
    amendLibrary(name: 'md', amend: (markdown: Markdown) => void): void;
    setTemplateFormats(formats: readonly string[]): void;
  }
  export default class Eleventy {
    constructor(
      input: string,
      output: string,
      options: {
        readonly quietMode: boolean;
        readonly configPath: string;
        readonly config: (config: Config) => void;
      },
    );
    toJSON(): Promise<readonly { readonly inputPath: string; readonly content: string }[]>;
  }
}
