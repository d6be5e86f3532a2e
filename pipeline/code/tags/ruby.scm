; Ruby

(class name: (_) @name body: (_)? @body) @class
(module name: (_) @name body: (_)? @body) @class
(method name: (_) @name body: (_)? @body) @method
(singleton_method name: (_) @name body: (_)? @body) @method

(comment) @comment

((call method: (identifier) @_method arguments: (argument_list . (string) @module .)) @import
  (#any-of? @_method "require" "require_relative" "load"))

((call method: (identifier) @callee) (#not-match? @callee "^(require|require_relative|load)$"))
