function list = ss_scenes(name)
% list = ss_scenes(name)   the scenes of the library, or one of them
%
% list = ss_scenes() is a struct array: name, summary, description, h (s, recommended step),
% length (s), parameters (struct array: name, default, help).
% s = ss_scenes('brick-wall') is that of one scene.
%
% Example:
%   s = ss_scenes('brick-wall');
%   disp(s.summary)
%
% See also ss_world
  list = stickslip_mex('world_scenes');
  if nargin > 0
    list = list(strcmp({list.name}, name));
    if isempty(list)
      error('stickslip:usage', 'unknown scene ''%s''', name);
    end
  end
end
