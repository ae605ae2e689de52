/* stickslip/modelfile.h - worlds from robot and scene files of others: URDF, MJCF (MuJoCo) and SDF.
 *
 *     ss_world *world = ss_world_create(&err);
 *     ss_findings findings = {0};
 *     if (!ss_model_read("robot.urdf", NULL, world, NULL, &findings, &err)) ...
 *
 * Nothing is dropped silently. Every element and attribute that is not honoured is a finding whose place is
 * "FILE:LINE": a loss if it would change the motion, a warning if it concerns appearance, sensors or the
 * numerical method of another engine, or if something was approximated. What cannot be understood, and what
 * has no meaning (a joint without mass behind it), is an error with file and line.
 *
 * Files are untrusted: size, depth and number of elements are limited, entities are refused, includes must
 * not repeat, and every file that a model names must lie below the model's own folder unless
 * ss_model_options.outside is set. docs/models.md says how each element is translated.
 *
 * Read after model.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_MODELFILE_H
#define STICKSLIP_MODELFILE_H

#include <stickslip/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_model_format { SS_MODEL_URDF, SS_MODEL_MJCF, SS_MODEL_SDF, SS_MODEL_FORMATS } ss_model_format;
SS_API const char *ss_model_format_name(ss_model_format format); /* "urdf" */

/* What the root link of a URDF does, which the format does not say. */
typedef enum ss_model_base {
    SS_BASE_AUTO,  /* fixed if it is called "world" or has no mass, else free */
    SS_BASE_FIXED, /* part of the world */
    SS_BASE_FREE,
} ss_model_base;

typedef struct ss_model_options {
    int base;                /* ss_model_base, URDF */
    bool floor;              /* adds the plane z = 0, which a URDF never has */
    const char *key;         /* MJCF: name or number of the keyframe to start from; NULL or "": none */
    ss_option_list packages; /* "NAME=FOLDER": where package://NAME/... is. Such a folder may be anywhere */
    bool outside;            /* files may lie outside of the model's folder */
} ss_model_options;
extern SS_API const ss_option ss_model_option_table[];

/* What a file says beyond the world itself. */
typedef struct ss_model_info {
    ss_model_format format;
    char name[64]; /* of the model; "" = none */
    double h;      /* s: the time step it asks for; 0 = none */
    int keyframes;
} ss_model_info;

/* Fills an empty world from a file; the format is that of its root element. options NULL: defaults. info and
 * findings may be NULL. On failure the world must be destroyed. */
SS_API bool ss_model_read(const char *path, const ss_model_options *options, ss_world *world,
                          ss_model_info *info, ss_findings *findings, ss_error *err);
/* The same from memory. name: for messages. folder: where files that it names are; NULL: it must not name
 * any. */
SS_API bool ss_model_parse(const char *text, size_t size, const char *name, const char *folder,
                           const ss_model_options *options, ss_world *world, ss_model_info *info,
                           ss_findings *findings, ss_error *err);
/* True for names that end like model files: .urdf, .xml, .mjcf, .sdf, .world. */
SS_API bool ss_model_is_name(const char *path);

#ifdef __cplusplus
}
#endif
#endif
