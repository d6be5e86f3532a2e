; C, and what C++ shares with it

(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body) @function
(function_definition
  declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)) body: (_) @body) @function
(function_definition
  declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
  body: (_) @body) @function
; declarations, as in headers; within functions they may as well be variables
(translation_unit (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(translation_unit
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
(preproc_ifdef (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(preproc_ifdef
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
(preproc_if (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(preproc_if
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
(declaration_list (declaration declarator: (function_declarator declarator: (identifier) @name)) @function)
(declaration_list
  (declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function)
(struct_specifier name: (_) @name body: (_) @body) @class
(union_specifier name: (_) @name body: (_) @body) @class
(enum_specifier name: (_) @name body: (_) @body) @class
(type_definition
  type: [(struct_specifier !name body: (_) @body) (union_specifier !name body: (_) @body) (enum_specifier !name body: (_) @body)]
  declarator: (type_identifier) @name) @class
(preproc_function_def name: (_) @name value: (_) @body) @function

(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)] @inner) @wrapper
(comment) @comment

(preproc_include path: [(string_literal) (system_lib_string)] @module) @import

(call_expression function: (identifier) @callee)
(call_expression function: (field_expression field: (field_identifier) @callee))
