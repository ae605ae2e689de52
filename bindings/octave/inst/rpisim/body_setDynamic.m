function B = body_setDynamic(B, dynamic)
% B = body_setDynamic(B, dynamic)   makes a body dynamic (true) or static (false)
%
% Example:
%   ground = body_setDynamic(mesh_cube(), false);
%
% See also Body
  B.dynamic = logical(dynamic);
end
