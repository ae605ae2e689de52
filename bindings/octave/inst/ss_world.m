function w = ss_world(scene, varargin)
% w = ss_world(scene, name, value, ...)   a world to be filled with bodies, or one of the library's scenes
%
% w = ss_world() makes an empty world with gravity [0 0 -9.81].
% w = ss_world('brick-wall', 'rows', 6) makes a scene by name, with its parameters and a
% 'seed' (1), by which it scatters its bodies; ss_scenes lists them.
%
% w is a handle: copies of it are the same world. The world is freed when the last copy is
% cleared, or by ss_free(w).
%
% Example:
%    w = ss_world();
%    ss_body(w, 'plane', []);
%    b = ss_body(w, 'box', [1 1 1], 'density', 1000, 'position', [0 0 2]);
%    ss_step(w, 100);
%    s = ss_state(w);
%    s.positions(:, b)
%
% See also ss_body, ss_joint, ss_start, ss_step, ss_state, ss_contacts, ss_on, ss_replace, ss_record
  w = struct();
  if nargin == 0
    w.id = stickslip_mex('world_create');
    w.length = Inf;
  else
    [w.id, about] = stickslip_mex('world_scene', scene, ss_texts(varargin));
    w.length = about.length;
  end
  id = w.id;
  w.guard = onCleanup(@() stickslip_mex('world_free', id));
end
