function s = ss_shape(w, b, shape, dimensions, varargin)
% s = ss_shape(w, b, shape, size, name, value, ...)   adds a shape to a body, or to the world (body 0)
%
% s = ss_shape(w, b, shape, size, name, value, ...); shapes, sizes and properties are those of
% ss_body, and 'position' and 'quaternion' place the shape in the frame of the body. A body may
% have several shapes.
%
% Example:
%   w = ss_world();
%   b = ss_body(w, '', []);
%   ss_shape(w, b, 'sphere', 0.1, 'density', 1000, 'position', [ 0.2 0 0]);
%   ss_shape(w, b, 'sphere', 0.1, 'density', 1000, 'position', [-0.2 0 0]);
%
% See also ss_body
  look = ss_fields(varargin);
  look.kind = shape;
  if strcmp(shape, 'hull') || strcmp(shape, 'mesh')
    if ~iscell(dimensions)
      error('stickslip:usage', 'size of a %s: expected {vertices, faces}', shape);
    end
    if numel(dimensions) == 1
      [look.vertices, look.faces] = stickslip_mex('mesh_hull', dimensions{1});
    else
      look.vertices = dimensions{1};
      look.faces = dimensions{2};
    end
  elseif strcmp(shape, 'heightfield')
    look.heights = dimensions{1};
    look.size = dimensions{2};
  else
    look.size = dimensions;
  end
  s = stickslip_mex('world_shape', w.id, b, look);
end
