// The text of the pages is Markdown and nothing else: braces of examples stay as they are.
export default () => ({ markdownTemplateEngine: false });
